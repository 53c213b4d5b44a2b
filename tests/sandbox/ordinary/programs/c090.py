from PIL import Image
from PIL.ExifTags import Base
im = Image.new("L", (8, 8)); ex = im.getexif(); ex[Base.Make] = "Acme"
im.save("e.jpg", exif=ex)
print(Image.open("e.jpg").getexif()[Base.Make])
frames = [Image.new("P", (4, 4), i) for i in range(3)]
frames[0].save("a.gif", save_all=True, append_images=frames[1:], duration=50)
print(Image.open("a.gif").is_animated)
