import { Worker, isMainThread, parentPort, workerData } from "worker_threads";
const w = new Worker("const {parentPort, workerData} = require('worker_threads'); parentPort.postMessage(workerData.reduce((a,b)=>a+b))", { eval: true, workerData: [1, 2, 3] });
console.log(await new Promise((r) => w.on("message", r)));
const sab = new SharedArrayBuffer(4); Atomics.add(new Int32Array(sab), 0, 5); console.log(new Int32Array(sab)[0]);
