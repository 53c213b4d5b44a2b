import textwrap

text = """The quick brown fox jumps over the lazy dog. Pack my box with five dozen liquor jugs.
How vexingly quick daft zebras jump!"""
print(textwrap.fill(text, width=40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, width=50, placeholder=" ..."))
print(textwrap.indent("a\nb\n", "> "), end="")
