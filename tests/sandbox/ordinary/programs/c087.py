from PIL import Image, ImageDraw, ImageFont
im = Image.new("RGB", (200, 60), "white")
d = ImageDraw.Draw(im)
d.text((10, 10), "Invoice 42", fill="black", font=ImageFont.load_default(20))
d.rectangle((0, 0, 199, 59), outline="red")
im.save("inv.png"); im.save("inv.jpg", quality=80); im.save("inv.webp"); im.save("inv.pdf")
print(Image.open("inv.webp").size, Image.open("inv.jpg").format)
