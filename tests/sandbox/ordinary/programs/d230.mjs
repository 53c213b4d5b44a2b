import { performance } from "node:perf_hooks";
import { setImmediate as immediate } from "node:timers/promises";

const before = performance.now();
let sum = 0;
for (let n = 0; n < 1e6; n++) sum += n;
await immediate();
console.log(sum, performance.now() >= before);
const order = [];
setTimeout(() => order.push("timeout"), 1);
process.nextTick(() => order.push("tick"));
Promise.resolve().then(() => order.push("microtask"));
order.push("sync");
setTimeout(() => console.log(order[0], order.includes("timeout"), order.length), 20);
