import readline, rlcompleter, code, pdb, cmd
class C(cmd.Cmd):
    def do_hi(self, a): print("hi", a)
C().onecmd("hi bob"); print(rlcompleter.Completer({"abc": 1}).complete("ab", 0)); code.InteractiveInterpreter().runsource("print(1+1)")
