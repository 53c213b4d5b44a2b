function* fibonacci() {
  let [a, b] = [0, 1];
  for (;;) {
    yield a;
    [a, b] = [b, a + b];
  }
}
const take = (n, items) => {
  const out = [];
  for (const item of items) {
    if (out.length === n) break;
    out.push(item);
  }
  return out;
};
console.log(take(12, fibonacci()));
const range = { from: 1, to: 4, *[Symbol.iterator]() { for (let n = this.from; n <= this.to; n++) yield n; } };
console.log([...range], Math.max(...range));
