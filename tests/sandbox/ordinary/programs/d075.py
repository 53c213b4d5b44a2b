import io
import sys

sys.stdin = io.StringIO("Ann\n42\n\n")
name = input("Name? ")
age = int(input("Age? "))
print(f"\nHello {name}, in ten years you are {age + 10}.")
print(repr(sys.stdin.read()))
try:
    input()
except EOFError:
    print("no more input")
