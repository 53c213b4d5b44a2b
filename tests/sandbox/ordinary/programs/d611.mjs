import { parseArgs } from "node:util";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";

const { values, positionals } = parseArgs({
  args: ["--name", "report", "-v", "in.csv"],
  options: { name: { type: "string" }, verbose: { type: "boolean", short: "v" } },
  allowPositionals: true,
});
console.log({ ...values }, positionals);
const out = createWriteStream("log.txt", { flags: "a" });
const logger = new console.Console(out);
logger.log("to the file %d", 1);
await new Promise((done) => out.end(done));
console.log(JSON.stringify(await readFile("log.txt", "utf8")));
