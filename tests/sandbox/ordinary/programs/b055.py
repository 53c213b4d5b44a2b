import argparse
import contextlib
import io

parser = argparse.ArgumentParser(prog="todo", description="Keep a list")
parser.add_argument("-v", "--verbose", action="count", default=0)
sub = parser.add_subparsers(dest="command", required=True)
add = sub.add_parser("add", help="add an item")
add.add_argument("text", nargs="+")
add.add_argument("--priority", type=int, choices=range(1, 4), default=2)
done = sub.add_parser("done")
done.add_argument("number", type=int)

for line in ["-vv add buy milk --priority 1", "done 4", "add x --priority 9", "fly"]:
    err = io.StringIO()
    try:
        with contextlib.redirect_stderr(err):
            args = parser.parse_args(line.split())
        print(sorted(vars(args).items()))
    except SystemExit as exc:
        print("exit", exc.code, "-", err.getvalue().splitlines()[-1].split(":")[0])
print(parser.format_usage().strip())
