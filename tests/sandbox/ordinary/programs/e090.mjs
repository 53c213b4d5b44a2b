import { inspect } from "node:util";
const deepMerge = (a, b) =>
  Object.fromEntries([...new Set([...Object.keys(a), ...Object.keys(b)])].map((k) => [k, a[k] && b[k] && typeof a[k] === "object" ? deepMerge(a[k], b[k]) : b[k] ?? a[k]]));
console.log(inspect(deepMerge({ db: { host: "a", port: 1 }, debug: false }, { db: { port: 2 }, debug: true }), { depth: 3 }));
