from PIL import Image, ImageFilter, ImageOps, ImageStat
im = Image.radial_gradient("L").resize((64, 64))
b = im.filter(ImageFilter.GaussianBlur(3))
print(ImageOps.mirror(b).getpixel((0, 0)) >= 0, [round(x) for x in ImageStat.Stat(b).mean])
b.thumbnail((16, 16)); print(b.size)
