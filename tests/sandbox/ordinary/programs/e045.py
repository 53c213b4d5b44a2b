import random

random.seed(3)
secret, low, high, guesses = random.randint(1, 100), 1, 100, []
while not guesses or guesses[-1] != secret:
    guesses.append((low + high) // 2)
    if guesses[-1] < secret:
        low = guesses[-1] + 1
    else:
        high = guesses[-1] - 1
print(secret, guesses)
