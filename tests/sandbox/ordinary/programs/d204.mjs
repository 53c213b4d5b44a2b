import { Transform, pipeline } from "node:stream";
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

writeFileSync("in.txt", "one\ntwo\nthree\n");
const upper = new Transform({
  transform(chunk, _encoding, done) {
    done(null, chunk.toString().toUpperCase());
  },
});
await promisify(pipeline)(createReadStream("in.txt"), upper, createWriteStream("out.txt"));
console.log(readFileSync("out.txt", "utf8").trim().split("\n"));
