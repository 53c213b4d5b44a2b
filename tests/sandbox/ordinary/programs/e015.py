def is_valid(number):
    digits = [int(c) for c in number if c.isdigit()][::-1]
    return (sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])) % 10 == 0


for card in ("4539 1488 0343 6467", "8273 1232 7352 0569"):
    print(card, "valid" if is_valid(card) else "invalid")
