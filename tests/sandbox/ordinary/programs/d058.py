import ast
import dis
import inspect
import io


def area(width: float, height: float = 1.0) -> float:
    """Return the area."""
    return width * height


print(inspect.signature(area), inspect.getdoc(area), area.__annotations__["return"].__name__)
tree = ast.parse("total = sum(x * 2 for x in items if x > 0)")
print(sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}))
print(ast.unparse(ast.parse("a=1;b = [ 2,3 ]")), ast.literal_eval("{'a': (1, 2)}"))
out = io.StringIO()
dis.dis("x + 1", file=out)
print("BINARY_OP" in out.getvalue())
