import json
import pandas as pd
import plotly.express as px

df = pd.DataFrame({
    "fruit": ["apple", "banana", "cherry", "apple", "banana", "cherry"],
    "city": ["Lyon", "Lyon", "Lyon", "Lille", "Lille", "Lille"],
    "amount": [4, 1, 2, 2, 4, 5],
})
fig = px.bar(df, x="fruit", y="amount", color="city", barmode="group", title="Fruit by city")
spec = json.loads(fig.to_json())

print("traces:", len(spec["data"]))
for trace in spec["data"]:
    print(trace["type"], trace["name"], trace["x"])
print("title:", spec["layout"]["title"]["text"])
