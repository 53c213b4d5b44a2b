import { writeFileSync, readFileSync } from "node:fs";
writeFileSync("words.txt", "the cat and the hat and the bat");
const counts = new Map();
for (const word of readFileSync("words.txt", "utf8").split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
console.log([...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b)));
