import zlib from "node:zlib";

const text = "the rain in spain ".repeat(100);
for (const [pack, unpack] of [["gzipSync", "gunzipSync"], ["deflateSync", "inflateSync"], ["brotliCompressSync", "brotliDecompressSync"]]) {
  const packed = zlib[pack](text);
  console.log(pack, packed.length < 100, zlib[unpack](packed).toString() === text);
}
