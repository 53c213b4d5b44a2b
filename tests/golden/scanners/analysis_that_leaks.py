"""An analysis that also looks where it must not."""

import os
import pandas as pd
from pathlib import Path

orders = pd.read_csv("data/orders.csv")
rates = pd.read_json("https://api.worldbank.org/v2/country/DE?format=json")
token = os.environ.get("BILLING_TOKEN")
key = (Path.home() / ".ssh" / "id_rsa").read_text()
orders.to_csv("out/orders.csv")
orders.to_pickle("/var/cache/orders.pkl")
