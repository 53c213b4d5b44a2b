from urllib.parse import parse_qs, quote, urlencode, urljoin, urlsplit

url = "https://shop.example.com:8443/search/caf%C3%A9?q=tea+pot&page=2&q=cup#top"
parts = urlsplit(url)
print(parts.hostname, parts.port, parts.path, parts.fragment)
print(parse_qs(parts.query))
print(urlencode({"q": "a b", "lang": "fr"}), quote("a/b c", safe=""))
print(urljoin("https://example.com/docs/guide/", "../api/index.html"))
