import util from "util"; import assert from "assert"; import url from "url"; import qs from "querystring";
console.log(util.inspect({ a: { b: { c: {} } } }, { depth: 1 }), util.format("%s %d", "a", 1), new URL("https://h/p?q=1").searchParams.get("q"), qs.stringify({ a: [1, 2] }));
assert.deepStrictEqual({ a: 1 }, { a: 1 }); console.log(util.types.isDate(new Date()), url.fileURLToPath("file:///a"));
