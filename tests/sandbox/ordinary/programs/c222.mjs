import { createReadStream, writeFileSync } from "fs"; import readline from "readline";
writeFileSync("l.txt", "a\nbb\nccc\n"); const out = [];
for await (const l of readline.createInterface({ input: createReadStream("l.txt") })) out.push(l.length);
console.log(out);
