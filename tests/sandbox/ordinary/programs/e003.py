celsius = [-10, 0, 21.5, 37, 100]
print(*(f"{c:6.1f} C = {c * 9 / 5 + 32:6.1f} F" for c in celsius), sep="\n")
