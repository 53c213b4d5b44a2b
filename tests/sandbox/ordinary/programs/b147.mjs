import assert from "node:assert/strict";

class LRU {
  #map = new Map();
  constructor(size) { this.size = size; }
  get(key) {
    if (!this.#map.has(key)) return undefined;
    const value = this.#map.get(key);
    this.#map.delete(key);
    this.#map.set(key, value);
    return value;
  }
  set(key, value) {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size > this.size) this.#map.delete(this.#map.keys().next().value);
    return this;
  }
  get keys() { return [...this.#map.keys()]; }
}
const cache = new LRU(2).set("a", 1).set("b", 2);
assert.equal(cache.get("a"), 1);
cache.set("c", 3);
assert.deepEqual(cache.keys, ["a", "c"]);
assert.equal(cache.get("b"), undefined);
assert.throws(() => assert.equal(1, 2), { code: "ERR_ASSERTION" });
await assert.rejects(Promise.reject(new TypeError("no")), TypeError);
console.log("all checks passed", cache.keys);
