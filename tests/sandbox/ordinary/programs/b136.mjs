import { Readable, PassThrough } from "node:stream";
import readline from "node:readline";

const text = "id,score\n1,40\n2,55\n3,70\n";
const rl = readline.createInterface({ input: Readable.from([text]), crlfDelay: Infinity });
let header = null;
const rows = [];
for await (const line of rl) {
  const cells = line.split(",");
  if (!header) header = cells;
  else rows.push(Object.fromEntries(header.map((h, i) => [h, Number(cells[i])])));
}
console.log(rows);
console.log("mean", rows.reduce((s, r) => s + r.score, 0) / rows.length);
const pass = new PassThrough();
pass.end("tail");
for await (const chunk of pass) console.log(chunk.toString());
const evens = await Readable.from([1, 2, 3, 4]).filter((n) => n % 2 === 0).map((n) => n * 10).toArray();
console.log(evens);
