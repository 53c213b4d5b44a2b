import httpx

calls = []


def handler(request):
    calls.append((request.method, request.url.path))
    if request.url.path == "/users/1":
        return httpx.Response(200, json={"id": 1, "name": "Ann"})
    return httpx.Response(404, text="not found")


with httpx.Client(transport=httpx.MockTransport(handler), base_url="https://api.example.com") as client:
    print(client.get("/users/1").json()["name"])
    missing = client.get("/users/2")
    print(missing.status_code, missing.is_error)
    try:
        missing.raise_for_status()
    except httpx.HTTPStatusError as error:
        print(error.response.text)
print(calls)
