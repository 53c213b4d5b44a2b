from PIL import Image, ImageDraw, ImageFilter, ImageOps

image = Image.new("RGB", (120, 80), "white")
draw = ImageDraw.Draw(image)
draw.ellipse((30, 10, 90, 70), fill="navy", outline="gold", width=3)
draw.text((5, 5), "logo", fill="black")
image.filter(ImageFilter.GaussianBlur(2)).save("blurred.jpg", quality=80)
ImageOps.grayscale(image).resize((30, 20)).save("thumb.png")
with Image.open("thumb.png") as thumb:
    print(thumb.size, thumb.mode, thumb.format)
print(image.getpixel((60, 40)), image.rotate(90, expand=True).size, Image.open("blurred.jpg").format)
