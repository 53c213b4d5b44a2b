from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from PIL import Image, ImageOps

src, dst = Path("input"), Path("output")
src.mkdir(exist_ok=True)
dst.mkdir(exist_ok=True)
for i in range(8):
    Image.effect_mandelbrot((120 + 10 * i, 90), (-2, -1.2, 1, 1.2), 20 + i).save(src / f"img_{i:02d}.png")


def convert(path: Path):
    with Image.open(path) as im:
        g = ImageOps.autocontrast(ImageOps.grayscale(im))
        g = ImageOps.expand(ImageOps.contain(g, (64, 64)), border=2, fill=255)
        target = dst / (path.stem + ".jpg")
        g.save(target, "JPEG", quality=80)
        return target.name, im.size, g.size


with ThreadPoolExecutor(max_workers=4) as pool:
    for name, before, after in pool.map(convert, sorted(src.glob("*.png"))):
        print(name, before, "->", after)
print("files:", len(list(dst.iterdir())))
