x = 1
y = 2
z = (a,
#= 1-1 Assign([x], 1)
#= 2-2 Assign([y], 2)
#= 3-3 Unsupported(syntax error, z = (a,)
#= 3-3 error: 'z = (a,'
