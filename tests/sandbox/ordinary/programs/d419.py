from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient
from pydantic import BaseModel

app = FastAPI()
items = {}


class Item(BaseModel):
    name: str
    price: float


@app.post("/items", status_code=201)
def create(item: Item):
    items[len(items) + 1] = item
    return {"id": len(items)}


@app.get("/items/{number}")
def read(number: int):
    if number not in items:
        raise HTTPException(404, "no such item")
    return items[number]


client = TestClient(app)
print(client.post("/items", json={"name": "tea", "price": 4.5}).json())
print(client.get("/items/1").json(), client.get("/items/9").status_code)
print(client.post("/items", json={"name": "x"}).status_code)
