import os
from PIL import Image, ImageOps

img = Image.new("RGB", (800, 600))
px = img.load()
for x in range(800):
    for y in range(600):
        px[x, y] = (x * 255 // 799, y * 255 // 599, 128)

os.makedirs("thumbs", exist_ok=True)
for size in [(64, 64), (128, 128), (256, 256)]:
    t = img.copy()
    t.thumbnail(size)
    t.save(f"thumbs/{size[0]}.jpg", quality=85)

square = ImageOps.fit(img, (300, 300), method=Image.Resampling.LANCZOS)
square.save("thumbs/square.png")
crop = img.crop((100, 100, 300, 200)).rotate(90, expand=True)
print("crop size:", crop.size)
for name in sorted(os.listdir("thumbs")):
    with Image.open(os.path.join("thumbs", name)) as im:
        print(name, im.format, im.size, im.mode)
