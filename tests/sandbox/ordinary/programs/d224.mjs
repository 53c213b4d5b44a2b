const buffer = Buffer.from("héllo wörld");
console.log(buffer.length, buffer.toString("hex").slice(0, 12), buffer.toString("base64"), buffer.indexOf("w"));
const view = new DataView(new ArrayBuffer(8));
view.setUint16(0, 258);
view.setFloat32(4, 1.5, true);
console.log([...new Uint8Array(view.buffer)], Buffer.concat([Buffer.from([1]), Buffer.alloc(2, 7)]));
console.log(new TextDecoder().decode(new TextEncoder().encode("日本")), Buffer.byteLength("日本"), Buffer.compare(Buffer.from("a"), Buffer.from("b")));
