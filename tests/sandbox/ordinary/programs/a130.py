import gzip
import shutil
import zipfile
from pathlib import Path

import requests
from tqdm import tqdm

req = requests.Request("GET", "https://api.example.com/v1/items", params={"q": "blue shoes", "page": 2}, headers={"Accept": "application/json"})
prepared = requests.Session().prepare_request(req)
print(prepared.method, prepared.url)

src = Path("sample.log")
src.write_text("".join(f"{i:06d} status={'OK' if i % 9 else 'FAIL'}\n" for i in range(20_000)))
size = src.stat().st_size
with tqdm.wrapattr(open(src, "rb"), "read", total=size, desc="gzip") as fin, gzip.open("sample.log.gz", "wb") as fout:
    shutil.copyfileobj(fin, fout, 16_384)

with gzip.open("sample.log.gz", "rt") as fh:
    fails = sum("FAIL" in line for line in tqdm(fh, total=20_000, disable=True))
print("size:", size, "fails:", fails)

with zipfile.ZipFile("bundle.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for p in tqdm(sorted(Path(".").glob("sample.*"))):
        z.write(p)
with zipfile.ZipFile("bundle.zip") as z:
    print(z.namelist(), z.testzip())
