import test from "node:test";
import assert from "node:assert/strict";

const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
assert.equal(slug("Hello, World!"), "hello-world");
assert.deepEqual({ a: [1, 2] }, { a: [1, 2] });
assert.throws(() => assert.ok(false), assert.AssertionError);
console.log("3 assertions", typeof test);
