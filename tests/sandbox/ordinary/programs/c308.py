import urllib.request, urllib.error
print(urllib.parse.urlencode({"q": "a b"}), urllib.request.urlopen("data:text/plain,hi").read())
open("l.txt", "w").write("local"); import pathlib; print(urllib.request.urlopen(pathlib.Path("l.txt").absolute().as_uri()).read())
