import { execSync, spawnSync, execFileSync } from "child_process";
console.log(execSync("echo hi").toString(), spawnSync("sort", { input: "b\na\n" }).stdout.toString(), execFileSync("node", ["-p", "1+1"]).toString());
try { execSync("exit 3", { stdio: "ignore" }); } catch (e) { console.log(e.status); }
