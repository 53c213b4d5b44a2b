import EventEmitter, { once } from "events";
const e = new EventEmitter(); e.once("x", (v) => console.log("got", v)); setTimeout(() => e.emit("y", 5), 5); console.log(e.emit("x", 1), e.emit("x", 2), await once(e, "y"));
