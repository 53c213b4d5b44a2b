import argparse

parser = argparse.ArgumentParser(prog="convert", description="Convert temperatures.")
parser.add_argument("value", type=float)
parser.add_argument("--to", choices=("c", "f"), default="c")
for line in (["212"], ["100", "--to", "f"], ["-40"]):
    args = parser.parse_args(line)
    result = (args.value - 32) * 5 / 9 if args.to == "c" else args.value * 9 / 5 + 32
    print(f"{args.value:g} -> {result:g} {args.to.upper()}")
print(parser.format_usage().strip())
