import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

async function* numbered(source) {
  let number = 0;
  for await (const line of source) yield `${++number}: ${line}\n`;
}
const written = [];
const sink = new Writable({ objectMode: true, write(chunk, _, done) { written.push(chunk); done(); } });
await pipeline(Readable.from(["first", "second", "third"]), numbered, sink);
process.stdout.write(written.join(""));
console.log(await Readable.from([1, 2, 3, 4]).filter((n) => n % 2 === 0).map((n) => n * 10).toArray());
