import cmath
import numbers

a, b, c = 1, 2, 5
root = cmath.sqrt(b * b - 4 * a * c)
print((-b + root) / (2 * a), (-b - root) / (2 * a))
print(abs(3 + 4j), cmath.phase(1j) > 1.57, isinstance(2, numbers.Integral), complex("1+2j").conjugate())
print(bin(37), oct(64), hex(255), int("zz", 36), (255).to_bytes(2, "big"), (0.1).as_integer_ratio()[1], float.fromhex("0x1p-2"))
