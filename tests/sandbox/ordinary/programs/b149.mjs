import { Buffer } from "node:buffer";

const buf = Buffer.alloc(12);
buf.writeUInt32BE(0xdeadbeef, 0);
buf.writeDoubleLE(2.5, 4);
console.log(buf.toString("hex"), buf.readDoubleLE(4));
console.log(Buffer.concat([Buffer.from("ab"), Buffer.from([99, 100])]).toString());
console.log(Buffer.byteLength("héllo"), Buffer.from("héllo").subarray(0, 1).toString());
console.log(Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.from("hello").indexOf("l"));
console.log(new Uint16Array(new Uint8Array([1, 0, 2, 0]).buffer));
async function* countdown(n) {
  try {
    while (n > 0) yield n--;
  } finally {
    console.log("countdown cleaned up");
  }
}
for await (const n of countdown(5)) {
  console.log(n);
  if (n === 3) break;
}
console.log(structuredClone({ when: new Date(0), set: new Set([1]) }));
