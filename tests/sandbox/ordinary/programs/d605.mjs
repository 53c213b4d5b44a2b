const roman = (n) =>
  Object.entries({ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 }).reduce(
    ([text, rest], [letters, value]) => [text + letters.repeat(Math.floor(rest / value)), rest % value],
    ["", n],
  )[0];
console.log([4, 9, 14, 40, 1994, 2024].map(roman).join(" "));
const sieve = (limit) => {
  const composite = new Uint8Array(limit + 1);
  const primes = [];
  for (let n = 2; n <= limit; n++) {
    if (composite[n]) continue;
    primes.push(n);
    for (let m = n * n; m <= limit; m += n) composite[m] = 1;
  }
  return primes;
};
console.log(sieve(50), sieve(100000).length);
