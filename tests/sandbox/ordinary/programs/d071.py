import getopt
import sys

options, rest = getopt.gnu_getopt(["-v", "in.txt", "--output=out.txt", "-n", "3"], "vn:", ["output="])
print(dict(options), rest)
try:
    getopt.getopt(["--bad"], "v")
except getopt.GetoptError as error:
    print(error)
print("warning: nothing to do", file=sys.stderr)
sys.stdout.write("done\n")
