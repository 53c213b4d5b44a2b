import json
from pathlib import Path

inventory = [{"sku": f"A{n:03}", "stock": (n * 37) % 11} for n in range(8)]
path = Path("inventory.json")
path.write_text(json.dumps(inventory, indent=2))
low = [item["sku"] for item in json.loads(path.read_text()) if item["stock"] < 4]
print("reorder:", ", ".join(low))
path.rename("inventory.bak")
print([p.name for p in Path().iterdir()])
