import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";

mkdirSync("public/js", { recursive: true });
writeFileSync("public/js/app.js", "console.log(1)\n");
writeFileSync("public/style.css", "a { color: red }\n");
const manifest = {};
for (const entry of readdirSync("public", { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const file = join(entry.parentPath ?? entry.path, entry.name);
  const digest = createHash("md5").update(readFileSync(file)).digest("hex").slice(0, 8);
  manifest[file] = entry.name.replace(extname(file), `.${digest}${extname(file)}`);
}
console.log(Object.fromEntries(Object.entries(manifest).sort()));
