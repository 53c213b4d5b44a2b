import { spawn, fork } from "child_process"; import fs from "fs";
const p = spawn("cat"); p.stdin.end("through"); for await (const c of p.stdout) console.log(String(c));
fs.writeFileSync("w.js", "process.on('message', m => { process.send(m * 2); process.disconnect(); })");
const f = fork("./w.js"); f.send(21); f.on("message", (m) => console.log(m));
