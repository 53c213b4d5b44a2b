import process from "process";
process.on("exit", (c) => console.log("exit", c)); process.on("SIGUSR2", () => { console.log("signal"); clearInterval(t); }); const t = setInterval(() => {}, 1000); process.kill(process.pid, "SIGUSR2"); process.exitCode = 0; process.nextTick(() => console.log("tick")); queueMicrotask(() => console.log("micro"));
