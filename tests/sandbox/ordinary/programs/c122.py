from tqdm import tqdm
import sys
total = 0
for i in tqdm(range(50), file=sys.stderr, desc="sum"): total += i
print(total)
