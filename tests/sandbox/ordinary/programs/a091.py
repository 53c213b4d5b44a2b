from PIL import Image, ImageChops, ImageDraw, ImageEnhance

colors = ["red", "orange", "yellow", "green", "blue", "purple"]
tiles = []
for i, c in enumerate(colors):
    t = Image.new("RGB", (100, 100), c)
    ImageDraw.Draw(t).text((40, 40), str(i + 1), fill="black")
    tiles.append(t)

sheet = Image.new("RGB", (3 * 110 + 10, 2 * 110 + 10), "white")
for i, t in enumerate(tiles):
    sheet.paste(t, (10 + (i % 3) * 110, 10 + (i // 3) * 110))

overlay = Image.new("RGBA", sheet.size, (0, 0, 0, 0))
ImageDraw.Draw(overlay).text((sheet.width // 2 - 20, sheet.height // 2), "DRAFT", fill=(0, 0, 0, 90))
marked = Image.alpha_composite(sheet.convert("RGBA"), overlay).convert("RGB")
marked.save("contact.png", optimize=True)
dim = ImageEnhance.Brightness(marked).enhance(0.5)

diff = ImageChops.difference(sheet, marked)
print("sheet:", marked.size, "watermark touched pixels:", diff.getbbox() is not None)
print("first tile:", marked.getpixel((20, 20)), "dimmed:", dim.getpixel((20, 20)))
print("palette:", [t.getpixel((5, 5)) for t in tiles])
