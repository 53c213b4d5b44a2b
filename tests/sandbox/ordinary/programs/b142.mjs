import util from "node:util";

const nested = { a: { b: { c: { d: 1 } } }, list: new Map([["k", new Set([1, 2])]]) };
console.log(util.inspect(nested, { depth: 1 }));
console.log(util.inspect(nested, { depth: null, compact: true, breakLength: 200 }));
console.log(util.format("%s is %d years and %j", "Ann", 31.5, { ok: true }));
const later = util.promisify((n, cb) => setTimeout(() => (n < 0 ? cb(new Error("negative")) : cb(null, n * 2)), 1));
console.log(await later(21));
await later(-1).catch((e) => console.log("rejected:", e.message));
const { values, positionals } = util.parseArgs({
  args: ["-v", "--name", "demo", "file.txt"],
  options: { verbose: { type: "boolean", short: "v" }, name: { type: "string" } },
  allowPositionals: true,
});
console.log({ ...values }, positionals);
console.log(util.isDeepStrictEqual({ x: [1] }, { x: [1] }), util.types.isDate(new Date(0)));
console.log(new util.TextDecoder().decode(new util.TextEncoder().encode("naïve")));
