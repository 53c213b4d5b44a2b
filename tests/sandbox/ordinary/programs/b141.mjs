import { execFile, execSync, spawn, spawnSync } from "node:child_process";
import { promisify } from "node:util";

const { stdout } = await promisify(execFile)("echo", ["hello", "from", "echo"]);
console.log(stdout.trim());
console.log(execSync("printf 'b\\na\\n' | sort", { encoding: "utf8" }).trim().split("\n"));
const sorted = spawnSync("sort", ["-rn"], { input: "3\n20\n1\n", encoding: "utf8" });
console.log(sorted.status, sorted.stdout.split("\n").filter(Boolean));
const child = spawn("cat");
child.stdin.end("through cat\n");
for await (const chunk of child.stdout) process.stdout.write(chunk);
try {
  execSync("exit 9", { stdio: "ignore" });
} catch (err) {
  console.log("status", err.status);
}
const sleeper = spawn("sleep", ["60"]);
const ended = new Promise((done) => sleeper.on("exit", (code, signal) => done([code, signal])));
sleeper.kill();
console.log(await ended);
console.log(spawnSync("no-such-command-here").error.code);
