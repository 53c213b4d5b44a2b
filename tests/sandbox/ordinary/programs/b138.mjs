import { EventEmitter, once, on } from "node:events";

class Shop extends EventEmitter {
  sell(item, n) {
    if (n <= 0) this.emit("error", new RangeError(`bad amount ${n}`));
    else this.emit("sale", item, n);
  }
}
const shop = new Shop();
const log = [];
shop.on("sale", (item, n) => log.push(`${n} ${item}`));
shop.once("sale", () => log.push("first sale!"));
shop.on("error", (err) => log.push(err.message));
shop.prependListener("sale", () => log.push("--"));
shop.sell("apple", 2);
shop.sell("pear", 0);
shop.sell("fig", 5);
console.log(log);
console.log(shop.eventNames(), shop.listenerCount("sale"));
setTimeout(() => shop.emit("closed", "at noon"), 5);
console.log((await once(shop, "closed"))[0]);
setImmediate(() => { for (let i = 0; i < 3; i++) shop.emit("tick", i); });
for await (const [i] of on(shop, "tick")) {
  console.log("tick", i);
  if (i === 2) break;
}
