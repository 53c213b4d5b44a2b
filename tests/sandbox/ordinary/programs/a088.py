from PIL import Image, ImageDraw, ImageFont

W, H = 400, 200
img = Image.new("RGBA", (W, H), (255, 255, 255, 0))
draw = ImageDraw.Draw(img)
draw.rounded_rectangle((10, 10, W - 10, H - 10), radius=25, fill=(30, 60, 120), outline="gold", width=4)
draw.ellipse((30, 60, 110, 140), fill="white")
draw.polygon([(70, 70), (100, 125), (40, 125)], fill="crimson")
draw.line([(130, 120), (370, 120)], fill="white", width=2)

try:
    font = ImageFont.truetype("DejaVuSans-Bold.ttf", 32)
except OSError:
    font = ImageFont.load_default()
draw.text((130, 70), "Jane Doe", font=font, fill="white")
draw.text((130, 130), "Data team", font=ImageFont.load_default(), fill="lightgray")
img.save("badge.png")

print(img.mode, img.size)
print("corner transparent:", img.getpixel((0, 0))[3] == 0)
print("triangle pixel:", img.getpixel((70, 110)))
print("distinct colours > 5:", len(img.getcolors(maxcolors=100_000)) > 5)
