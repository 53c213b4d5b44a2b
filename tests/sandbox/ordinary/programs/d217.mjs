const date = new Date(Date.UTC(2024, 1, 28, 22, 30));
date.setUTCDate(date.getUTCDate() + 2);
console.log(date.toISOString(), date.getUTCDay());
console.log(new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "Asia/Tokyo" }).format(date));
console.log(new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234567.891));
console.log((Date.parse("2024-12-25") - Date.parse("2024-01-01")) / 86_400_000, Date.now() > 1.7e12);
console.log(["ä", "z", "a"].sort(new Intl.Collator("sv").compare), new Intl.PluralRules("en", { type: "ordinal" }).select(22));
