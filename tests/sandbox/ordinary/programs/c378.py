import argparse, getopt, configparser, os, sys
p = argparse.ArgumentParser(prog="t"); p.add_argument("-v", action="count", default=0); s = p.add_subparsers(dest="c"); b = s.add_parser("build"); b.add_argument("--out", type=argparse.FileType("w"), default="-"); a = p.parse_args(["-vv", "build", "--out", "o.txt"]); print(a.v, a.c, a.out.name); print(getopt.getopt(["-a", "x"], "a")); c = configparser.ConfigParser(); c["s"] = {"k": "v", "n": "${k}"}; c.write(open("c.ini", "w")); print(open("c.ini").read().split(), os.environ.get("NOPE", "default"))
try: p.parse_args(["bad"])
except SystemExit as e: print(e.code)
