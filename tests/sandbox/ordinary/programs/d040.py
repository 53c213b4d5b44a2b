import html
from html.parser import HTMLParser


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs).get("href"))


parser = Links()
parser.feed('<p>See <a href="/a?x=1&amp;y=2">this</a> or <a href="https://example.com">that</a>.</p>')
print(parser.found, html.escape("<b> & 'c'"), html.unescape("&eacute;&#8364;"))
