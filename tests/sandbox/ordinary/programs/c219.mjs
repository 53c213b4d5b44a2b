import { promises as fs } from "fs";
await fs.writeFile("x.json", JSON.stringify({ a: 1 }));
await fs.copyFile("x.json", "y.json");
await fs.rename("y.json", "z.json");
console.log(await fs.readdir("."), JSON.parse(await fs.readFile("z.json")).a);
await fs.rm("z.json"); console.log(await fs.access("z.json").catch((e) => e.code));
