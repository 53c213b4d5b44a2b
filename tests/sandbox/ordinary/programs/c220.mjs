import fs from "fs"; import os from "os"; import path from "path";
const d = fs.mkdtempSync(path.join(os.tmpdir(), "job-"));
fs.symlinkSync("target", path.join(d, "l")); console.log(fs.readlinkSync(path.join(d, "l")));
fs.rmSync(d, { recursive: true, force: true }); console.log(fs.existsSync(d));
