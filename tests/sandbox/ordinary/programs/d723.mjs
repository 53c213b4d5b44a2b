import { existsSync, mkdtempSync, rmSync, writeFileSync, watchFile, unwatchFile } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "demo-"));
const file = join(folder, "note.txt");
writeFileSync(file, "first");
console.log(existsSync(file), folder.startsWith(tmpdir()));
watchFile(file, { interval: 1000 }, () => {});
unwatchFile(file);
rmSync(folder, { recursive: true });
console.log(existsSync(folder));
