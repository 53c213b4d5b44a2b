import zlib from "node:zlib";
import { promisify } from "node:util";

const text = Array.from({ length: 400 }, (_, i) => `row ${i % 13}`).join("\n");
const input = Buffer.from(text);
const kinds = {
  gzip: [promisify(zlib.gzip), promisify(zlib.gunzip)],
  deflate: [promisify(zlib.deflate), promisify(zlib.inflate)],
  brotli: [promisify(zlib.brotliCompress), promisify(zlib.brotliDecompress)],
};
for (const [name, [pack, unpack]] of Object.entries(kinds)) {
  const packed = await pack(input);
  const back = await unpack(packed);
  console.log(name, "smaller:", packed.length < input.length / 4, "same:", back.equals(input));
}
try {
  zlib.gunzipSync(Buffer.from("not gzip"));
} catch (err) {
  console.log(err.code);
}
