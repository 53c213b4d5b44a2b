import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { spawn } from "node:child_process";

console.log(cluster.isPrimary, availableParallelism() >= 1);
const run = (command, ...args) =>
  new Promise((resolve) => {
    const child = spawn(command, args);
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    child.on("close", (code, signal) => resolve([out.trim(), code, signal]));
    if (command === "sleep") child.kill();
  });
console.log(await run("echo", "hello"), await run("sh", "-c", "exit 5"), await run("sleep", "30"));
