import plotly.express as px
import pandas as pd
df = pd.DataFrame({"year": [2020, 2021, 2022], "sales": [10, 14, 9]})
fig = px.line(df, x="year", y="sales", title="Sales")
fig.write_html("sales.html", include_plotlyjs="cdn")
print(fig.data[0].type, "Sales" in open("sales.html").read())
