import importlib.metadata as md, importlib.resources, pkgutil, sys
print(md.version("numpy").split(".")[0].isdigit(), len(list(md.distributions())) > 10, sum(1 for _ in pkgutil.iter_modules()) > 100)
print(importlib.util.find_spec("nosuchpackage"))
try: import nosuchpackage
except ModuleNotFoundError as e: print(e)
