import textwrap
from pathlib import Path

Path("lib").mkdir()
Path("lib/__init__.py").write_text("")
Path("lib/shapes.py").write_text(textwrap.dedent("""
    def area(w, h):
        return w * h
"""))
import importlib
import sys

sys.path.insert(0, ".")
shapes = importlib.import_module("lib.shapes")
print(shapes.area(3, 4), shapes.__name__)
Path("lib/shapes.py").write_text("def area(w, h):\n    return w * h + 0.5\n")
importlib.invalidate_caches()
print(importlib.reload(shapes).area(3, 4) >= 12, "lib.shapes" in sys.modules)
