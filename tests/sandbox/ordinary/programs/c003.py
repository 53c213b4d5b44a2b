import matplotlib.font_manager as fm
names = {f.name for f in fm.fontManager.ttflist}
print("DejaVu Sans" in names)
path = fm.findfont("DejaVu Sans")
print(path.endswith(".ttf"))
