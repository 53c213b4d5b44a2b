import fs from "fs";
const s = fs.createWriteStream("big.txt");
for (let i = 0; i < 1000; i++) s.write(`line ${i}\n`);
s.end(); await new Promise((r) => s.on("finish", r));
let n = 0; for await (const c of fs.createReadStream("big.txt", { highWaterMark: 512 })) n += c.length;
console.log(n);
