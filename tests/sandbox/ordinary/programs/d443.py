# A recipe for three instead of four people.
from fractions import Fraction

recipe = {"flour (g)": 300, "eggs": 4, "milk (l)": Fraction(1, 2), "salt (tsp)": Fraction(3, 4)}
for name, amount in recipe.items():
    scaled = Fraction(amount) * 3 / 4
    whole, rest = divmod(scaled, 1)
    print(f"{name:12} {whole if whole or not rest else ''}{' ' if whole and rest else ''}{rest if rest else ''}")
