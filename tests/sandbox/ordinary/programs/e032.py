def permute(text):
    return [text] if len(text) < 2 else sorted({a + b for i, a in enumerate(text) for b in permute(text[:i] + text[i + 1:])})


print(permute("abca"))
print(["".join(chr(97 + (i >> k & 1)) for k in range(3)) for i in range(8)])
