import { strict as assert } from "node:assert";
const fizz = (n) => (n % 3 ? "" : "Fizz") + (n % 5 ? "" : "Buzz") || n;
console.log(Array.from({ length: 15 }, (_, n) => fizz(n + 1)).join(" "));
assert.equal(fizz(15), "FizzBuzz");
