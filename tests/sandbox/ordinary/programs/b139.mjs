import { Worker } from "node:worker_threads";

const source = `
const { parentPort, workerData } = require("node:worker_threads");
const primes = [];
for (let n = 2; n < workerData.limit; n++) {
  if (primes.every((p) => n % p)) primes.push(n);
}
parentPort.postMessage({ name: workerData.name, count: primes.length, last: primes.at(-1) });
`;
const run = (name, limit) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(source, { eval: true, workerData: { name, limit } });
    let answer;
    worker.on("message", (m) => (answer = m));
    worker.on("error", reject);
    worker.on("exit", (code) => resolve({ ...answer, code }));
  });
for (const result of await Promise.all([run("small", 100), run("large", 5000)])) console.log(result);
await run("x", 3).then((r) => console.log(r.last));
