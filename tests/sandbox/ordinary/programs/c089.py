from PIL import ImageFont
for name in ["DejaVuSans.ttf", "Arial.ttf", "nosuchfont.ttf"]:
    try:
        ImageFont.truetype(name, 12); found = True
    except OSError:
        found = False
    if name == "nosuchfont.ttf": print(name, found)
