import os from "node:os";
import process from "node:process";

console.log(os.EOL === "\n", os.platform(), os.cpus().length >= 1, os.totalmem() > os.freemem());
console.log(typeof process.pid, process.argv.length >= 1, process.version.startsWith("v"), process.uptime() >= 0);
process.env.APP_MODE = "test";
console.log(process.env.APP_MODE, process.env.APP_MISSING, process.cwd().length > 0, process.memoryUsage().rss > 0);
process.exitCode = 0;
process.on("exit", (code) => console.log("leaving with", code));
