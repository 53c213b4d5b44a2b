import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "demo-"));
try {
  for (const [name, text] of Object.entries({ "b.txt": "bee\n", "a.txt": "ay\n", "sub/c.md": "# see\n" })) {
    const file = path.join(dir, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  fs.appendFileSync(path.join(dir, "a.txt"), "more\n");
  fs.renameSync(path.join(dir, "b.txt"), path.join(dir, "sub", "b2.txt"));
  const files = fs.readdirSync(dir, { recursive: true }).sort();
  for (const name of files) {
    const stat = fs.statSync(path.join(dir, name));
    console.log(name, stat.isDirectory() ? "dir" : stat.size);
  }
  console.log(fs.existsSync(path.join(dir, "b.txt")), path.extname("x.tar.gz"), path.normalize("/a/../b//c"));
} finally {
  fs.rmSync(dir, { recursive: true });
}
console.log("gone:", !fs.existsSync(dir));
