import fs from "node:fs";
import { createInterface } from "node:readline";

const out = fs.createWriteStream("big.log");
for (let n = 0; n < 5000; n++) out.write(`${n % 7 ? "INFO" : "ERROR"} line ${n}\n`);
await new Promise((done) => out.end(done));
let errors = 0;
for await (const line of createInterface({ input: fs.createReadStream("big.log", { highWaterMark: 1024 }) })) {
  if (line.startsWith("ERROR")) errors++;
}
console.log(errors, fs.statSync("big.log").size);
