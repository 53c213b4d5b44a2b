import pandas as pd
h = pd.HDFStore if hasattr(pd, "HDFStore") else None
try: pd.DataFrame({"a": [1]}).to_hdf("x.h5", key="a")
except ImportError as e: print("no tables")
pd.DataFrame({"a": [1], "b": ["<x>"]}).to_xml("x.xml"); print(pd.read_xml("x.xml").to_dict("records")); pd.DataFrame({"a": [1.5]}).to_orc("x.orc"); print(pd.read_orc("x.orc").a[0]); print(pd.DataFrame({"a": [1]}).to_markdown() if __import__("importlib").util.find_spec("tabulate") else "plain")
