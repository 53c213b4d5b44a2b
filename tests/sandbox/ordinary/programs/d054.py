import http.cookies
import http
import mimetypes

cookie = http.cookies.SimpleCookie()
cookie["session"] = "abc123"
cookie["session"]["httponly"] = True
cookie["session"]["max-age"] = 3600
print(cookie.output())
print(http.HTTPStatus(404).phrase, http.HTTPStatus.CREATED.value, mimetypes.guess_type("style.css")[0])
parsed = http.cookies.SimpleCookie("a=1; theme=dark")
print({key: morsel.value for key, morsel in parsed.items()})
