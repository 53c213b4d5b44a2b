import { EventEmitter, once } from "node:events";

class Order extends EventEmitter {
  ship() {
    this.emit("shipped", { id: 7, at: "noon" });
  }
}
const order = new Order();
order.on("shipped", ({ id }) => console.log("mail for", id));
order.once("shipped", () => console.log("only once"));
setTimeout(() => order.ship(), 5);
const [event] = await once(order, "shipped");
order.ship();
console.log(event.at, order.listenerCount("shipped"));
