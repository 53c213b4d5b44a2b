import numpy as np
from PIL import Image, ImageFilter, ImageStat

rng = np.random.default_rng(66)
arr = np.clip(rng.normal(90, 20, (120, 160)), 0, 255)
arr[30:90, 40:120] += 100
img = Image.fromarray(np.clip(arr, 0, 255).astype(np.uint8))

blur = img.filter(ImageFilter.GaussianBlur(2))
edges = blur.filter(ImageFilter.FIND_EDGES)
mask = blur.point(lambda v: 255 if v > 140 else 0).convert("1")
mask.save("mask.png")
edges.save("edges.bmp")

hist = img.histogram()
print("pixels:", sum(hist), "mode:", img.mode)
print("mean %.1f stddev %.1f" % (ImageStat.Stat(img).mean[0], ImageStat.Stat(img).stddev[0]))
a = np.asarray(mask)
rows, cols = np.where(a)
print("mask fraction: %.2f" % a.mean())
print("bounding box:", mask.getbbox())
print("edge mean over 1:", bool(np.asarray(edges).mean() > 1))
