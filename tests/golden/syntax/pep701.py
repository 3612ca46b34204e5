x = f'{'a'}'
x = f"{"b" + f"{"c"}"}"
x = f'{a['k']}'
x = f'{'\n'.join(a)}'
x = f'''{
    a  # with a comment
}'''
#= 1-1 Assign([x], FString([FormattedValue('a', '', -, '')]))
#= 2-2 Assign([x], FString([FormattedValue(BinOp('b', +, FString([FormattedValue('c', '', -, '')])), '', -, '')]))
#= 3-3 Assign([x], FString([FormattedValue(Subscript(a, 'k'), '', -, '')]))
#= 4-4 Assign([x], FString([FormattedValue(Call(Attribute('\n', join), [a], []), '', -, '')]))
#= 5-7 Assign([x], FString([FormattedValue(a, '', -, '')]))
