import { pipeline } from "stream/promises"; import fs from "fs"; import zlib from "zlib";
fs.writeFileSync("t.txt", "data ".repeat(1000));
await pipeline(fs.createReadStream("t.txt"), zlib.createGzip(), fs.createWriteStream("t.gz"));
await pipeline(fs.createReadStream("t.gz"), zlib.createGunzip(), fs.createWriteStream("u.txt"));
console.log(fs.readFileSync("u.txt").length, zlib.brotliDecompressSync(zlib.brotliCompressSync("b")).toString());
