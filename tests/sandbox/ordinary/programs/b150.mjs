import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import zlib from "node:zlib";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "rows-"));
process.on("exit", () => {
  fs.rmSync(dir, { recursive: true, force: true });
  console.log("cleaned up:", !fs.existsSync(dir));
});
function* rows(n) {
  let seed = 42;
  for (let i = 0; i < n; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    yield `${i},${seed % 1000}\n`;
  }
}
const plain = path.join(dir, "rows.csv");
const packed = plain + ".gz";
await pipeline(Readable.from(rows(1000)), fs.createWriteStream(plain));
await pipeline(fs.createReadStream(plain), zlib.createGzip(), fs.createWriteStream(packed));
const hash = crypto.createHash("sha256");
await pipeline(fs.createReadStream(packed), zlib.createGunzip(), hash);
const direct = crypto.createHash("sha256").update(fs.readFileSync(plain)).digest("hex");
console.log("same digest:", hash.digest("hex") === direct, direct.slice(0, 16));
console.log("smaller:", fs.statSync(packed).size < fs.statSync(plain).size);
console.log(fs.readFileSync(plain, "utf8").split("\n").slice(0, 3));
