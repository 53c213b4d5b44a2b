import { strict as assert } from "node:assert";
class Stack {
  #items = [];
  push(item) { this.#items.push(item); return this; }
  pop() { if (!this.#items.length) throw new RangeError("empty"); return this.#items.pop(); }
}
const stack = new Stack().push(1).push(2);
console.log(stack.pop(), stack.pop());
assert.throws(() => stack.pop(), RangeError);
console.log("empty as it should be");
