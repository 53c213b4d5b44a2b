def caesar(text, shift):
    out = []
    for char in text:
        if char.isalpha():
            base = ord("A") if char.isupper() else ord("a")
            out.append(chr((ord(char) - base + shift) % 26 + base))
        else:
            out.append(char)
    return "".join(out)


secret = caesar("Meet me at noon, Bob!", 13)
print(secret, "|", caesar(secret, 13))
print(max(range(26), key=lambda n: sum(caesar("Wkh txlfn eurzq ira", n).lower().count(c) for c in "eo")))
