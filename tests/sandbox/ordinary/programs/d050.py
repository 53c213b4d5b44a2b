import tomllib
from pathlib import Path

Path("pyproject.toml").write_text("""
[project]
name = "demo"
version = "1.2.0"
dependencies = ["requests>=2", "rich"]

[tool.lint]
line-length = 100
""")
with open("pyproject.toml", "rb") as f:
    project = tomllib.load(f)
print(project["project"]["name"], len(project["project"]["dependencies"]), project["tool"]["lint"])
major, minor, patch = map(int, project["project"]["version"].split("."))
print(f"next: {major}.{minor + 1}.0")
