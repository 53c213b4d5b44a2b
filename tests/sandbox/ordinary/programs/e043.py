def truth_table(expression):
    for a in (False, True):
        for b in (False, True):
            print(f"{a!s:<6}{b!s:<6}{expression(a, b)}")


truth_table(lambda a, b: not (a and b))
print([int(a ^ b) for a in (0, 1) for b in (0, 1)], 6 & 3, 6 | 3, ~6, 1 << 5)
