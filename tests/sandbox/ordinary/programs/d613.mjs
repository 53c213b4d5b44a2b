import vm from "node:vm";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { join } = require("node:path");
console.log(join("a", "b"), vm.runInNewContext("x * 2", { x: 21 }));
const context = vm.createContext({ total: 0 });
for (const n of [1, 2, 3]) vm.runInContext(`total += ${n}`, context);
console.log(context.total);
console.log(new Function("a", "b", "return a ** b")(2, 8), globalThis.process === process);
