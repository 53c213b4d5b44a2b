def parse(tokens):
    def expression():
        value = term()
        while tokens and tokens[0] in "+-":
            value = value + term() if tokens.pop(0) == "+" else value - term()
        return value

    def term():
        value = factor()
        while tokens and tokens[0] in "*/":
            value = value * factor() if tokens.pop(0) == "*" else value / factor()
        return value

    def factor():
        token = tokens.pop(0)
        if token == "(":
            value = expression()
            tokens.pop(0)
            return value
        return -factor() if token == "-" else float(token)

    return expression()


import re

for text in ("2 + 3 * 4", "(2 + 3) * 4", "-(8 / 4) - 1"):
    print(text, "=", parse(re.findall(r"\d+\.?\d*|[-+*/()]", text)))
