"""Code that holds code of another language is known by what holds it."""

from __future__ import annotations

import pytest

from spanproof.evaluators.detect import list_text_snippets
from spanproof.trace import Language

CARD = """export default function Card({ items }) {
  return (
    <div className="card">
      <h2>Cart</h2>
      <ul>{items.map((i) => <li key={i.id}><span>{i.name}</span></li>)}</ul>
      <button onClick={() => reset()}>Reset</button>
    </div>
  );
}"""
TYPED = "interface Props { title: string }\n" + CARD.replace("{ items }", "{ items }: Props")
ROWS = """def page(rows):
    html = "<html><body><table>"
    for row in rows:
        html += f"<tr><td>{row[0]}</td><td>{row[1]}</td></tr>"
    return html + "</table></body></html>\""""
TEMPLATE = """const row = (u) => `<tr><td>${u.name}</td><td>${u.age}</td></tr>`;
document.body.innerHTML = `<table><tbody>${users.map(row).join("")}</tbody></table>`;"""
PAGE = """<div>
  <p>This is a paragraph of text.</p>
</div>
<script>
  const a = 1;
  console.log(a);
</script>"""
FED = """python3 - <<'PY'
import json
print(json.dumps({"a": 1}))
PY"""
WRITTEN = """cat > index.html <<EOF
<html>
<body><h1>Hi</h1><p>There</p></body>
</html>
EOF
python3 -m http.server 8000"""
WORKFLOW = """jobs:
  build:
    steps:
      - run: |
          pip install -r requirements.txt
          pytest -q
      - uses: actions/checkout@v4"""
QUERY_IN_JAVA = """PreparedStatement st = conn.prepareStatement("SELECT id FROM users WHERE name = ?");
st.setString(1, name);
ResultSet rs = st.executeQuery();"""


@pytest.mark.parametrize("wrap", ["{}", "Here:\n```\n{}\n```"], ids=["bare", "fence"])
@pytest.mark.parametrize(
    ("source", "language"),
    [
        (CARD, Language.JAVASCRIPT),
        (TYPED, Language.TYPESCRIPT),
        (ROWS, Language.PYTHON),
        (TEMPLATE, Language.JAVASCRIPT),
        (PAGE, Language.HTML),
        (FED, Language.BASH),
        (WRITTEN, Language.BASH),
        (WORKFLOW, Language.YAML),
        (QUERY_IN_JAVA, Language.OTHER),
    ],
    ids=[
        "jsx",
        "tsx",
        "html in python",
        "html in js",
        "js in html",
        "python fed",
        "html fed",
        "bash in yaml",
        "java",
    ],
)
def test_code_is_known_by_what_holds_the_rest(source, language, wrap):
    (found,) = list_text_snippets(wrap.replace("{}", source))
    assert (found.language, found.source) == (language, source)
