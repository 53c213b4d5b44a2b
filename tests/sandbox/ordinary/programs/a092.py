import numpy as np
from PIL import Image


def mandelbrot(w, h, limit=60):
    x = np.linspace(-2.2, 0.8, w)
    y = np.linspace(-1.2, 1.2, h)
    c = x[None, :] + 1j * y[:, None]
    z = np.zeros_like(c)
    out = np.zeros(c.shape, dtype=np.uint8)
    for i in range(limit):
        alive = np.abs(z) <= 2
        z[alive] = z[alive] ** 2 + c[alive]
        out[alive] = i
    return out


img = mandelbrot(300, 240)
im = Image.fromarray(img * 4).convert("P")
palette = [v for i in range(256) for v in (i, (i * 3) % 256, 255 - i)]
im.putpalette(palette)
im.save("mandelbrot.png")

with Image.open("mandelbrot.png") as check:
    print(check.mode, check.size)
print("inside points:", int((img == 59).sum()))
print("mean iterations: %.3f" % img.mean())
