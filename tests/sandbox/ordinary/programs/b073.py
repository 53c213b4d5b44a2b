import ast
import io
import tokenize

SOURCE = '''
import os, sys as system

def area(r, pi=3.14):  # circle
    """Area of a circle."""
    return pi * r ** 2

class Box:
    def volume(self):
        return area(2) * len(os.sep)
'''
tree = ast.parse(SOURCE)
for node in ast.walk(tree):
    if isinstance(node, ast.FunctionDef):
        print("def", node.name, [a.arg for a in node.args.args], "doc:", ast.get_docstring(node))
    elif isinstance(node, ast.ClassDef):
        print("class", node.name)
    elif isinstance(node, ast.Import):
        print("import", [(a.name, a.asname) for a in node.names])
comments = [
    t.string for t in tokenize.generate_tokens(io.StringIO(SOURCE).readline) if t.type == tokenize.COMMENT
]
print(comments)
scope = {}
exec(compile(tree, "<sample>", "exec"), scope)
print(round(scope["Box"]().volume(), 2))
print(ast.unparse(ast.parse("x=[ i*2 for i in  range(3) ]")), ast.literal_eval("{'a': (1, 2)}"))
