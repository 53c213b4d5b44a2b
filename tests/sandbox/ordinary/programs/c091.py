import numpy as np
from PIL import Image
a = np.zeros((10, 10, 3), np.uint8); a[:, :5] = [255, 0, 0]
im = Image.fromarray(a); im.save("flag.bmp"); im.convert("L").save("flag.tif")
print(np.asarray(Image.open("flag.bmp")).sum(), Image.open("flag.tif").mode, im.quantize(2).getcolors())
