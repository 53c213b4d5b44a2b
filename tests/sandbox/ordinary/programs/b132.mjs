import { mkdtemp, readFile, rm, writeFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dir = await mkdtemp(join(tmpdir(), "p-"));
await Promise.all([1, 2, 3].map((n) => writeFile(join(dir, `f${n}`), "x".repeat(n * 10))));
const texts = await Promise.all([1, 2, 3].map((n) => readFile(join(dir, `f${n}`), "utf8")));
console.log(texts.map((t) => t.length));
const results = await Promise.allSettled(["f1", "nope"].map((f) => stat(join(dir, f))));
for (const r of results) console.log(r.status, r.status === "fulfilled" ? r.value.size : r.reason.code);
await rm(dir, { recursive: true });
console.log("removed");
