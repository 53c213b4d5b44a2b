def roll(sides, seed):
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed % sides + 1


dice = roll(6, 42)
throws = [next(dice) for _ in range(600)]
print({face: 60 < throws.count(face) < 140 for face in range(1, 7)})
