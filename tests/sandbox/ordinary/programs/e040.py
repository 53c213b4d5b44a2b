def compress(text):
    out, count = [], 1
    for a, b in zip(text, text[1:] + "\0"):
        if a == b:
            count += 1
        else:
            out.append(f"{a}{count if count > 1 else ''}")
            count = 1
    return "".join(out)


print(compress("aaabccdddd"), compress("abc"), compress("WWWWBWWW"))
