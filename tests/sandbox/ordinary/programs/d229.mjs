const compose = (...steps) => (value) => steps.reduce((result, step) => step(result), value);
const debounceless = (fn) => { const seen = new Map(); return (n) => seen.get(n) ?? (seen.set(n, fn(n)), seen.get(n)); };
const factorial = debounceless((n) => (n < 2n ? 1n : n * factorial(n - 1n)));
console.log(compose((s) => s.trim(), (s) => s.split(/\s+/), (w) => w.length)("  one two   three "));
console.log(factorial(25n), typeof factorial(3n), 2n ** 64n);
const { a, ...others } = { a: 1, b: 2, c: 3 };
console.log(a, others, others?.d?.e ?? "none", [1, [2, [3, [4]]]].flat(Infinity));
