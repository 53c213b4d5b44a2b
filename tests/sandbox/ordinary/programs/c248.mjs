import fs from "fs";
for (const f of ["/etc/myapp.json", "./config.json", `${process.env.HOME}/.myapprc`]) console.log(fs.existsSync(f)); try { fs.readFileSync("config.yaml"); } catch (e) { console.log(e.code, e.syscall); } console.log(process.cwd().length > 0, process.argv.length >= 1, process.env.PATH.length > 0, process.version.startsWith("v"), process.pid > 0, process.platform);
