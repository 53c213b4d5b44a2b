import random

random.seed(1234)
deck = [f"{rank}{suit}" for suit in "SHDC" for rank in "A23456789TJQK"]
random.shuffle(deck)
hands = {name: [deck.pop() for _ in range(5)] for name in ("north", "east", "south", "west")}
for name, hand in hands.items():
    print(f"{name:6}", *sorted(hand))
print(len(deck), "left")
