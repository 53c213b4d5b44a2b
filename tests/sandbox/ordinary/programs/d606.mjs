import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

class Queue extends EventEmitter {
  #running = 0;
  #jobs = [];
  constructor(limit) {
    super();
    this.limit = limit;
  }
  add(job) {
    return new Promise((resolve, reject) => {
      this.#jobs.push(() => job().then(resolve, reject));
      this.#next();
    });
  }
  #next() {
    if (this.#running >= this.limit || !this.#jobs.length) return;
    this.#running++;
    this.emit("start", this.#running);
    this.#jobs.shift()().finally(() => {
      this.#running--;
      this.#next();
    });
  }
}
const queue = new Queue(2);
let most = 0;
queue.on("start", (running) => (most = Math.max(most, running)));
console.log(await Promise.all([5, 1, 3, 2].map((ms) => queue.add(() => wait(ms, ms * 10)))), most);
