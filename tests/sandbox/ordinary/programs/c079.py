import pandas as pd
from sqlalchemy import create_engine
e = create_engine("sqlite:///w.db")
pd.DataFrame({"a": [1, 2, 3]}).to_sql("w", e, index=False)
print(pd.read_sql("select avg(a) m from w", e))
e.dispose()
