import { readFile, writeFile } from "node:fs/promises";
const rows = JSON.parse(await readFile("data/rows.json", "utf8"));
await writeFile("out/sum.json", JSON.stringify({ sum: rows.reduce((a, r) => a + r.v, 0) }));
