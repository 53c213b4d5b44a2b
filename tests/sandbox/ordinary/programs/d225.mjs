import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";

const context = new AsyncLocalStorage();
const log = [];
const handle = (id, ms) =>
  context.run({ id }, async () => {
    await wait(ms);
    log.push(`request ${context.getStore().id}`);
  });
await Promise.all([handle(1, 20), handle(2, 5)]);
console.log(log, context.getStore());
