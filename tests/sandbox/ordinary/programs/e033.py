import string

text = "Hello, World! 123"
print(text.translate(str.maketrans("", "", string.punctuation)), text.swapcase(), text.casefold())
print(str.maketrans("ab", "xy"), text.encode("ascii").hex(), bytes.fromhex("48 69").decode(), ascii("ü"))
print("%-8s|%5.1f|%03d" % ("ab", 3.14159, 7), f"{text!r:>22}", f"{1234567.891:,.2f}", f"{0.000123:.1e}")
