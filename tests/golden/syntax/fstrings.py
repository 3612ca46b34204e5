x = f'a'
x = f''
x = f'{a}b{c}'
x = f'{{{a}}}'
x = f'{a!r:>{width}.{p}}'
x = f'{a=}' f'{a = !s}' f'{a=:.2f}'
x = 'a' f'{b}' 'c'
x = rf'\d{a}\n'
x = f'\x41{a}\n'
x = f'{a, b}'
x = f'{ {"k": 1}["k"] }'
x = f'{a if b else c}'
x = f'{(lambda: 1)()}'
x = f'{(y := 5)}'
x = f"""{
    a
}
"""
x = f'{a:%Y-%m}'
x = f"{x!r}" "{y}"
x = f'{f"{a}"}'
x = f'\N{BULLET}{a}'
#= 1-1 Assign([x], FString(['a']))
#= 2-2 Assign([x], FString([]))
#= 3-3 Assign([x], FString([FormattedValue(a, '', -, ''), 'b', FormattedValue(c, '', -, '')]))
#= 4-4 Assign([x], FString(['{', FormattedValue(a, '', -, ''), '}']))
#= 5-5 Assign([x], FString([FormattedValue(a, r, FString(['>', FormattedValue(width, '', -, ''), '.', FormattedValue(p, '', -, '')]), '')]))
#= 6-6 Assign([x], FString([FormattedValue(a, r, -, a=), FormattedValue(a, s, -, a = ), FormattedValue(a, '', FString(['.2f']), a=)]))
#= 7-7 Assign([x], FString(['a', FormattedValue(b, '', -, ''), 'c']))
#= 8-8 Assign([x], FString(['\\d', FormattedValue(a, '', -, ''), '\\n']))
#= 9-9 Assign([x], FString(['A', FormattedValue(a, '', -, ''), '\n']))
#= 10-10 Assign([x], FString([FormattedValue(TupleExpr([a, b]), '', -, '')]))
#= 11-11 Assign([x], FString([FormattedValue(Subscript(DictExpr(['k'], [1]), 'k'), '', -, '')]))
#= 12-12 Assign([x], FString([FormattedValue(IfExp(b, a, c), '', -, '')]))
#= 13-13 Assign([x], FString([FormattedValue(Call(Lambda([], 1), [], []), '', -, '')]))
#= 14-14 Assign([x], FString([FormattedValue(NamedExpr(y, 5), '', -, '')]))
#= 15-18 Assign([x], FString([FormattedValue(a, '', -, ''), '\n']))
#= 19-19 Assign([x], FString([FormattedValue(a, '', FString(['%Y-%m']), '')]))
#= 20-20 Assign([x], FString([FormattedValue(x, r, -, ''), '{y}']))
#= 21-21 Assign([x], FString([FormattedValue(FString([FormattedValue(a, '', -, '')]), '', -, '')]))
#= 22-22 Assign([x], FString(['•', FormattedValue(a, '', -, '')]))
