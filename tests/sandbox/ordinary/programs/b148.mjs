import os from "node:os";
import process from "node:process";

const facts = {
  platform: os.platform() === "linux",
  cpus: os.cpus().length >= 1,
  memory: os.totalmem() > os.freemem(),
  hostname: os.hostname().length > 0,
  user: os.userInfo().username.length > 0,
  tmpdir: os.tmpdir().startsWith("/"),
  uptime: os.uptime() > 0,
  interfaces: typeof os.networkInterfaces() === "object",
  pid: process.pid > 0,
  cwd: process.cwd().startsWith("/"),
  heap: process.memoryUsage().heapUsed > 1000,
  node: Number(process.versions.node.split(".")[0]) >= 18,
  path: "PATH" in process.env,
  hrtime: process.hrtime.bigint() > 0n,
};
for (const [name, ok] of Object.entries(facts)) console.log(name.padEnd(12), ok ? "ok" : "no");
console.log(JSON.stringify(os.EOL), os.constants.signals.SIGTERM);
process.exitCode = 0;
