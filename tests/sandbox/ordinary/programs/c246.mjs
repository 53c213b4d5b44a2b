const words = "the cat the dog the end".split(" "); const m = new Map(); for (const w of words) m.set(w, (m.get(w) ?? 0) + 1);
console.log([...m].sort((a, b) => b[1] - a[1])[0], Object.groupBy ? Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")) : "");
class A { #x = 1; get x() { return this.#x; } static { console.log("static"); } } console.log(new A().x, 2n ** 64n, [1, [2, [3]]].flat(Infinity), 0.1 + 0.2);
