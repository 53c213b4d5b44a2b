import httpx
def app(request): return httpx.Response(200, json={"q": request.url.params["q"]})
with httpx.Client(transport=httpx.MockTransport(app)) as c:
    print(c.get("https://api.example.com/s", params={"q": "tea"}).json())
