from pathlib import Path
import pandas as pd

df = pd.DataFrame(
    {"team": ["Red", "Blue", "Green", "Gold"], "won": [10, 7, 9, 3], "lost": [2, 5, 3, 9], "points": [30, 21, 27, 9]}
).set_index("team")
df["pct"] = df["won"] / (df["won"] + df["lost"])
df = df.sort_values("points", ascending=False)

html = df.to_html(float_format="{:.3f}".format, classes="table table-striped", border=0)
Path("standings.html").write_text(f"<html><body>{html}</body></html>", encoding="utf-8")

header = "| " + " | ".join(["team", *df.columns]) + " |"
lines = [header, "|" + "---|" * (len(df.columns) + 1)]
for name, row in df.iterrows():
    lines.append(f"| {name} | {row.won:.0f} | {row.lost:.0f} | {row.points:.0f} | {row.pct:.3f} |")
Path("standings.md").write_text("\n".join(lines))
print(Path("standings.md").read_text())

print("html rows:", html.count("<tr"))
print(df.to_string(formatters={"pct": "{:.1%}".format}))
