import fs from "node:fs";
fs.mkdirSync("a/b", { recursive: true });
fs.writeFileSync("a/b/c.txt", "hello\n");
fs.appendFileSync("a/b/c.txt", "world\n");
console.log(fs.readFileSync("a/b/c.txt", "utf8"), fs.statSync("a/b/c.txt").size, fs.readdirSync("a", { recursive: true }));
