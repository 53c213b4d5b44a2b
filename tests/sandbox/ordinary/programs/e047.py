import json
import urllib.parse

query = {"name": "Zoë & Co", "tags": ["a", "b"], "empty": ""}
text = urllib.parse.urlencode(query, doseq=True)
print(text, urllib.parse.parse_qs(text, keep_blank_values=True), sep="\n")
print(json.dumps(urllib.parse.urlsplit("ftp://host:21/a;b?c#d")._asdict()))
