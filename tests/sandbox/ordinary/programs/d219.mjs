import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const source = `
  const { parentPort, workerData } = require("node:worker_threads");
  let count = 0;
  for (let n = workerData[0]; n < workerData[1]; n++) {
    let prime = n > 1;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
    if (prime) count++;
  }
  parentPort.postMessage(count);
`;
const run = (workerData) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(source, { eval: true, workerData });
    worker.on("message", resolve);
    worker.on("error", reject);
  });
const counts = await Promise.all([run([0, 5000]), run([5000, 10000])]);
console.log(counts, counts[0] + counts[1], isMainThread, parentPort, workerData);
