import { gzipSync, gunzipSync } from "node:zlib";
const rows = Array.from({ length: 500 }, (_, n) => ({ id: n, even: n % 2 === 0 }));
const packed = gzipSync(JSON.stringify(rows));
console.log(packed.length < 3000, JSON.parse(gunzipSync(packed)).filter((r) => r.even).length);
