from pathlib import Path

Path("posts").mkdir()
for slug, title in (("first", "Hello"), ("second", "Again")):
    Path("posts", f"{slug}.md").write_text(f"title: {title}\n\nSome text about {slug}.\n")
pages = []
for path in sorted(Path("posts").glob("*.md")):
    head, body = path.read_text().split("\n\n", 1)
    pages.append(f"<h1>{head.removeprefix('title: ')}</h1><p>{body.strip()}</p>")
Path("index.html").write_text("\n".join(pages))
print(Path("index.html").read_text())
