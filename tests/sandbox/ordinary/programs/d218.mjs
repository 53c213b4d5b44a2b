import { promisify, inspect, format, styleText, isDeepStrictEqual } from "node:util";
import fs from "node:fs";

const readFile = promisify(fs.readFile);
fs.writeFileSync("a.json", JSON.stringify({ deep: { list: [1, { x: 2 }] } }));
console.log(inspect(JSON.parse(await readFile("a.json", "utf8")), { depth: 1 }));
console.log(format("%s is %d years and %j", "Ann", 42, { a: 1 }), isDeepStrictEqual([1, { a: 2 }], [1, { a: 2 }]));
console.log(typeof styleText);
