import numpy as np
import pandas as pd

raw = pd.DataFrame({
    " Full Name": ["  alice SMITH", "Bob jones ", "carol  o'neil", "Bob jones ", None],
    "E-mail": ["ALICE@EXAMPLE.COM", "bob@example", "carol@example.org", "bob@example", ""],
    "Phone": ["(555) 123-4567", "555.987.6543", "5551112222", "555.987.6543", "n/a"],
    "Age": ["34", "unknown", "41", "unknown", "-1"],
})


def tidy_columns(df):
    return df.rename(columns=lambda c: c.strip().lower().replace(" ", "_").replace("-", ""))


def clean(df):
    out = df.drop_duplicates().dropna(subset=["full_name"]).copy()
    out["full_name"] = out["full_name"].str.replace(r"\s+", " ", regex=True).str.strip().str.title()
    out["email"] = out["email"].str.lower().where(out["email"].str.match(r"^[^@]+@[^@]+\.\w+$", case=False))
    out["phone"] = out["phone"].str.replace(r"\D", "", regex=True)
    out["age"] = pd.to_numeric(out["age"], errors="coerce").where(lambda s: s > 0).astype("Int64")
    return out.reset_index(drop=True)


df = raw.pipe(tidy_columns).pipe(clean)
print(df.to_string())
print("missing:", df.isna().sum().to_dict())
df.to_csv("clean.csv", index=False)
print(pd.read_csv("clean.csv", dtype={"phone": str})["phone"].tolist())
