const json = JSON.stringify({ when: new Date(0), list: [1, undefined, null], fn() {}, nested: { secret: "x" } }, (key, value) => (key === "secret" ? "***" : value), 1);
console.log(json);
try {
  JSON.parse("{'a': 1}");
} catch (error) {
  console.log(error.name);
}
const copy = structuredClone({ set: new Set([1, 2]), map: new Map([["a", { b: 1 }]]) });
console.log(copy.set.has(2), copy.map.get("a"));
