import vm from "vm"; import v8 from "v8"; import { createRequire } from "module"; import { AsyncLocalStorage } from "async_hooks";
console.log(vm.runInNewContext("a + 1", { a: 1 }), v8.deserialize(v8.serialize({ m: new Map([[1, 2]]) })), createRequire(import.meta.url)("path").sep, new AsyncLocalStorage().run(7, () => 7), v8.getHeapStatistics().heap_size_limit > 0);
