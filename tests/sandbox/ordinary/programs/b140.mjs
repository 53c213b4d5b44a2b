import { Worker, isMainThread, workerData, parentPort } from "node:worker_threads";
import { fileURLToPath } from "node:url";

if (isMainThread) {
  const shared = new SharedArrayBuffer(8);
  const view = new Int32Array(shared);
  const workers = [1, 2].map(
    (step) => new Worker(fileURLToPath(import.meta.url), { workerData: { shared, step } }),
  );
  const codes = await Promise.all(workers.map((w) => new Promise((done) => w.once("exit", done))));
  console.log("counter", view[0], "workers finished", view[1]);
  console.log("exit codes", codes);
  const stuck = new Worker("setInterval(() => {}, 1000)", { eval: true });
  await new Promise((done) => stuck.once("online", done));
  console.log("terminated with", await stuck.terminate());
} else {
  const view = new Int32Array(workerData.shared);
  for (let i = 0; i < 1000; i++) Atomics.add(view, 0, workerData.step);
  Atomics.add(view, 1, 1);
  parentPort.close();
}
