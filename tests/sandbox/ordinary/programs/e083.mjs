import assert from "node:assert/strict";
const chunk = (list, n) => (list.length ? [list.slice(0, n), ...chunk(list.slice(n), n)] : []);
assert.deepEqual(chunk([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
const unique = (list) => [...new Set(list)];
console.log(chunk("abcdefg".split(""), 3), unique([1, 1, 2]));
