import requests
from requests.adapters import BaseAdapter


class Canned(BaseAdapter):
    def send(self, request, **kwargs):
        response = requests.Response()
        response.status_code, response.url, response.request = 200, request.url, request
        response._content = b'{"temperature": 21.5}'
        response.headers["content-type"] = "application/json"
        return response

    def close(self):
        pass


session = requests.Session()
session.mount("weather://", Canned())
session.headers["accept"] = "application/json"
print(session.get("weather://berlin/now").json(), requests.codes.teapot)
print(requests.Request("GET", "https://example.com/a", params={"q": "x y"}).prepare().url)
