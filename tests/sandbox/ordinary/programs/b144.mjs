import { setTimeout as wait } from "node:timers/promises";

let beats = 0;
const heartbeat = setInterval(() => beats++, 5);
heartbeat.unref();
const order = [];
setTimeout(() => order.push("timeout"), 0);
setImmediate(() => order.push("immediate"));
process.nextTick(() => order.push("nextTick"));
Promise.resolve().then(() => order.push("promise"));
await wait(40);
console.log([...order].sort());
console.log("beating:", beats > 0);
const abort = new AbortController();
setTimeout(() => abort.abort(), 10);
try {
  await wait(60_000, "never", { signal: abort.signal });
} catch (err) {
  console.log(err.name, err.code);
}
console.log(await Promise.race([wait(5, "fast"), wait(5000, "slow", { ref: false })]));
process.on("exit", (code) => console.log("exit code", code, "with the heartbeat still set"));
