ascii_art = {"A": ["  *  ", " * * ", "*****", "*   *"], "I": ["***", " * ", " * ", "***"]}
for line in range(4):
    print("  ".join(ascii_art[letter][line] for letter in "AIA"))
