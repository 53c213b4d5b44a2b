import fs from "node:fs";

const config = { retries: 3, hosts: ["a", "b"] };
fs.writeFileSync("config.json", JSON.stringify(config, null, 2));
const stat = fs.statSync("config.json");
console.log(stat.size, stat.isFile(), fs.existsSync("other.json"));
fs.copyFileSync("config.json", "copy.json");
fs.appendFileSync("copy.json", "\n");
fs.symlinkSync("copy.json", "link.json");
console.log(fs.readlinkSync("link.json"), fs.lstatSync("link.json").isSymbolicLink(), fs.readdirSync(".").sort());
fs.chmodSync("copy.json", 0o600);
console.log((fs.statSync("copy.json").mode & 0o777).toString(8));
fs.unlinkSync("link.json");
const fd = fs.openSync("config.json", "r");
const chunk = Buffer.alloc(5);
fs.readSync(fd, chunk, 0, 5, 4);
fs.closeSync(fd);
console.log(JSON.stringify(chunk.toString()));
