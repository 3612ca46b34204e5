x = 'a'
x = "it's"
x = '''a
b'''
x = r'\n' + R"\\"
x = b'\x00\xff\'' + Rb'\x'
x = u'a'
x = '\x41\101\u00e9\U0001F600\N{BULLET}'
x = '\
a\t\q'
x = 'a' "b" r'\c'
x = ('a'
     'b'  # between
     'c')
x = b'a' b'b'
x = 'é€😀'
x = ''
x = "" ""
#= 1-1 Assign([x], 'a')
#= 2-2 Assign([x], "it's")
#= 3-4 Assign([x], 'a\nb')
#= 5-5 Assign([x], BinOp('\\n', +, '\\\\'))
#= 6-6 Assign([x], BinOp(b"\x00\xff'", +, b'\\x'))
#= 7-7 Assign([x], 'a')
#= 8-8 Assign([x], 'AAé😀•')
#= 9-10 Assign([x], 'a\t\\q')
#= 11-11 Assign([x], 'ab\\c')
#= 12-14 Assign([x], 'abc')
#= 15-15 Assign([x], b'ab')
#= 16-16 Assign([x], 'é€😀')
#= 17-17 Assign([x], '')
#= 18-18 Assign([x], '')
