import { execFileSync, spawnSync, spawn } from "node:child_process";
import { once } from "node:events";

console.log(execFileSync("sort", { input: "pear\napple\n" }).toString().trim().split("\n"));
const failed = spawnSync("ls", ["missing-file"]);
console.log(failed.status !== 0, failed.stderr.toString().includes("missing-file"));
const child = spawn("cat");
child.stdin.end("through the pipe");
child.stdout.on("data", (data) => console.log(String(data)));
const [code] = await once(child, "close");
console.log("code", code);
