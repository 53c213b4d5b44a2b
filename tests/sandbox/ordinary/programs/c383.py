import inspect, ast, dis, types, typing, importlib, textwrap, builtins
def f(a: int, *, b: str = "x") -> bool: "doc"
print(inspect.signature(f), inspect.getdoc(f), typing.get_type_hints(f)["a"].__name__, ast.unparse(ast.parse("a=1+2")), [i.opname for i in dis.get_instructions("1")][-1].startswith("RETURN"), types.SimpleNamespace(a=1), importlib.import_module("json").__name__, textwrap.fill("aa bb cc", 5).splitlines(), textwrap.shorten("one two three", 9), inspect.getsource(f).strip()[:5], len(dir(builtins)) > 100)
open("plug.py", "w").write("def run(): return 'plugged'"); import sys; sys.path.insert(0, "."); import plug; print(plug.run(), importlib.reload(plug).run())
