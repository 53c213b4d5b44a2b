def binary(n):
    return binary(n // 2) + str(n % 2) if n > 1 else str(n)


for n in (0, 5, 64, 255):
    print(n, binary(n), f"{n:b}", f"{n:o}", f"{n:X}", n.bit_length(), n.bit_count())
