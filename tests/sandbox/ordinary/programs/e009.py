from collections import deque

recent = deque(maxlen=3)
for page in ("home", "shop", "cart", "pay"):
    recent.append(page)
print(list(recent))
recent.rotate(1)
recent.appendleft("help")
print(list(recent))
