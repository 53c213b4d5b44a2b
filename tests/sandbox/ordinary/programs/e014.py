votes = "tea coffee tea water tea coffee".split()
tally = {}
for vote in votes:
    tally[vote] = tally.get(vote, 0) + 1
winner = max(tally, key=tally.get)
print(f"{winner} wins with {tally[winner] / len(votes):.0%}")
for name in sorted(tally, key=lambda n: (-tally[n], n)):
    print(f"{name:<7}{'*' * tally[name]}")
