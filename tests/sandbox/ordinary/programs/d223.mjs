class Cache {
  #items = new Map();
  constructor(limit) {
    this.limit = limit;
  }
  get(key) {
    if (!this.#items.has(key)) return undefined;
    const value = this.#items.get(key);
    this.#items.delete(key);
    this.#items.set(key, value);
    return value;
  }
  set(key, value) {
    this.#items.delete(key);
    if (this.#items.size >= this.limit) this.#items.delete(this.#items.keys().next().value);
    this.#items.set(key, value);
    return this;
  }
  get keys() {
    return [...this.#items.keys()];
  }
}
const cache = new Cache(2).set("a", 1).set("b", 2);
cache.get("a");
cache.set("c", 3);
console.log(cache.keys, cache.get("b"), cache.get("a"));
