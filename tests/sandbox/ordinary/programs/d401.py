from tqdm import tqdm

total = 0
for number in tqdm(range(2000), desc="adding"):
    total += number
print(total)
with tqdm(total=10, disable=None) as bar:
    for _ in range(5):
        bar.update(2)
print(bar.n)
