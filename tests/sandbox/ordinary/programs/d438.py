import markdown
import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

print(markdown.markdown("# Notes\n\n- one\n- *two*\n\n| a | b |\n|---|---|\n| 1 | 2 |", extensions=["tables"])[:40])
html = pygments.highlight("x = 1  # one\n", PythonLexer(), HtmlFormatter(nowrap=True))
print(html.strip())
