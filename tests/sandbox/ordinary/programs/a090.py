from io import BytesIO
from PIL import Image

src = Image.linear_gradient("L").resize((200, 200)).convert("RGB")
src.putpixel((0, 0), (255, 0, 0))

for fmt, kw in [("PNG", {}), ("BMP", {}), ("GIF", {}), ("TIFF", {"compression": "tiff_lzw"}), ("WEBP", {"lossless": True})]:
    buf = BytesIO()
    src.save(buf, format=fmt, **kw)
    buf.seek(0)
    out = Image.open(buf)
    print(f"{fmt:5s} {out.format} {out.size} {out.mode} top-left={out.convert('RGB').getpixel((0, 0))}")

exif = Image.Exif()
exif[0x010E] = "test image"
exif[0x013B] = "nobody"
exif[0x0112] = 6
buf = BytesIO()
src.save(buf, "JPEG", exif=exif, quality=90)
back = Image.open(BytesIO(buf.getvalue()))
print({hex(k): v for k, v in sorted(back.getexif().items())})
