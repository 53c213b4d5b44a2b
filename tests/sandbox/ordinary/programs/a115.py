import json
import pandas as pd

payload = """
{"page": 1, "results": [
  {"id": 1, "user": {"name": "ann", "address": {"city": "Rome"}}, "orders": [{"sku": "a", "qty": 2}, {"sku": "b", "qty": 1}]},
  {"id": 2, "user": {"name": "bob", "address": {"city": "Oslo"}}, "orders": [{"sku": "a", "qty": 5}]},
  {"id": 3, "user": {"name": "cyd", "address": {}}, "orders": []}
]}
"""
data = json.loads(payload)
users = pd.json_normalize(data["results"]).drop(columns="orders")
orders = pd.json_normalize(data["results"], record_path="orders", meta=["id", ["user", "name"]])
print(users)
print(orders)

orders.to_csv("orders.csv", index=False)
orders.to_json("orders.json", orient="records", lines=True)
print(open("orders.csv").read())
back = pd.read_json("orders.json", lines=True)
print("same shape:", back.shape == orders.shape)
print(back.groupby("sku")["qty"].sum().to_json())
