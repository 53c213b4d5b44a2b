import fs from "node:fs";

fs.mkdirSync("src");
fs.writeFileSync("src/util.mjs", "export const double = (n) => n * 2;\nexport default 'utilities';\n");
fs.writeFileSync("src/data.json", '{"version": "1.2.3"}');
const util = await import(`${process.cwd()}/src/util.mjs`);
console.log(util.double(21), util.default, Object.keys(util).sort());
const { default: data } = await import(`${process.cwd()}/src/data.json`, { with: { type: "json" } });
console.log(data.version);
await import("./nowhere.mjs").catch((error) => console.log(error.code));
