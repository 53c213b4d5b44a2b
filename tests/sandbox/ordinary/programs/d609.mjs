import assert from "node:assert";
import { mock } from "node:test";

const mailer = { send: (to) => `really sent to ${to}` };
mock.method(mailer, "send", (to) => `pretended to send to ${to}`);
console.log(mailer.send("ann@example.com"), mailer.send.mock.callCount());
mock.restoreAll();
console.log(mailer.send("bob"));
const counter = mock.fn((n) => n + 1);
[1, 2, 3].forEach((n) => counter(n));
console.log(counter.mock.calls.map((call) => call.result));
assert.rejects(Promise.reject(new TypeError("bad")), TypeError).then(() => console.log("rejected as expected"));
