import string
import textwrap

text = (
    "It was a bright cold day in the middle of the week, and the office was quiet. "
    "Somebody had left the window open, so papers moved from desk to desk on their own."
)
for line in textwrap.wrap(text, 38):
    print("|" + line.ljust(38) + "|")
print(textwrap.fill(text, 50, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, 40, placeholder=" ..."))
code = """
    if x:
        y()
"""
print(textwrap.indent(textwrap.dedent(code).strip(), "> "))
letter = string.Template("Dear $name, you owe $$${amount}.")
print(letter.substitute(name="Sam", amount=12))
print(letter.safe_substitute(name="Sam"))
print(string.capwords("the end of it"), string.hexdigits)
