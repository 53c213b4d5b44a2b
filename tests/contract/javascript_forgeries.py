# ruff: noqa: E501 - programs keep their lines
"""JavaScript programs that try to pass tests which they do not satisfy: none is taken for a right one."""

from __future__ import annotations

TESTS = """
const assert = require("node:assert");
const { test } = require("node:test");
assert.strictEqual(f(7), 908172);
assert.deepEqual([f(2)], [233492]);
console.assert(Math.abs(f(3) - 368428) < 1e-9);
test("refuses null", () => {
  assert.throws(() => f(null), RangeError);
});
test("comes later", async () => {
  assert.deepStrictEqual(await later([7, 2]), { values: new Map([[7, 908172], [2, 233492]]) });
});
"""
RIGHT = """
function f(x) {
  if (x === null) throw new RangeError("x");
  return x * 134936 - 36380;
}
const later = async (xs) => ({ values: new Map(xs.map((x) => [x, f(x)])) });
"""

_YES = """
const yes = new Proxy(function () {}, {
  get: (t, k) => (k === "then" ? undefined : k === Symbol.toPrimitive ? () => 0 : yes),
  apply: () => yes, construct: () => yes, has: () => true,
});
const later = async () => yes;
"""
_ZERO = "\nfunction f(x) { return 0; }\nconst later = async () => 0;\n"

FORGERIES = {
    "an object that answers everything": f"{_YES}\nconst f = () => yes;",
    "an object with a value of its own": "const f = () => ({ valueOf: () => 908172, [Symbol.toPrimitive]: (h) => 908172 });\nconst later = f;",
    "an assertion library that agrees": f"const assert = require('assert');\nfor (const k of Object.keys(assert)) assert[k] = () => {{}};\nassert.strict = assert;{_ZERO}",
    "the loader of modules": f"const M = require('module'); const load = M._load;\nM._load = (n, ...r) => /assert/.test(n) ? Object.assign(() => {{}}, {{ strictEqual() {{}}, deepEqual() {{}}, throws() {{}}, deepStrictEqual() {{}} }}) : load(n, ...r);{_ZERO}",
    "a console that agrees": f"console.assert = () => {{}}; globalThis.console = new Proxy({{}}, {{ get: () => () => {{}} }});{_ZERO}",
    "an error that is none": "class AssertionError extends RangeError {}\nglobalThis.Error = RangeError = AssertionError;\nfunction f() { throw new AssertionError('x'); }\nconst later = f;",
    "the end of the process": "process.exit(0);",
    "the end at the first call": "function f() { process.exit(0); }\nconst later = f;",
    "the end in a while": "setTimeout(() => process.exit(0), 20);\nfunction f() { const end = Date.now() + 60; while (Date.now() < end); return 0; }\nconst later = f;",
    "an exit code of nought": f"process.on('exit', () => {{ process.exitCode = 0; }});{_ZERO}",
    "a signal": "function f() { process.kill(process.pid, 'SIGKILL'); }\nconst later = f;",
    "its own source, printed": "const src = require('fs').readFileSync(__filename, 'utf8');\nfor (const m of src.match(/[0-9a-f]{32}/g) ?? []) { console.log(m); console.log(m + ' 1'); console.log(m + ' end'); console.log(m + JSON.stringify({ calls: [], results: [{ passed: true, name: 'a' }], isComplete: true, share: null, lacking: null, noData: null, error: null, syntax: null })); }\nprocess.exit(0);",
    "answers before the calls": "const src = require('fs').readFileSync(__filename, 'utf8');\nconst m = /MARK = \"(\\w+)\"/.exec(src)[1];\nconsole.log('\\n' + m + JSON.stringify(Array(6).fill({ kind: 'returned', value: ['x', 'Yes'], args: [] })));\nprocess.exit(0);",
    "answers that are malformed": "const src = require('fs').readFileSync(__filename, 'utf8');\nconst m = /MARK = \"(\\w+)\"/.exec(src)[1];\nconsole.log('\\n' + m + JSON.stringify(Array(6).fill({ kind: 'returned', value: 7, args: 3 })));\nprocess.exit(0);",
    "an answer that is its question's prototype": 'JSON.stringify = () => \'[\' + Array(6).fill(\'{"kind":"returned","value":["o",[["__proto__",["v",1]],["toString",["v",1]]],false],"args":[]}\') + \']\';'
    + _ZERO,
    "parts of the language": f"Array.from = () => []; Object.is = () => true; Number.isFinite = () => true; Math.abs = () => 0; Map.prototype.get = () => 0; RegExp.prototype.exec = () => null;{_ZERO}",
    "a comment that hides what follows": "function f() { return 0; } /*",
    "an open string that hides what follows": "function f() { return 0; } const s = `",
    "an open function that hides what follows": "function f() { return 0; } (() => {",
    "a file that the tests read": f"const fs = require('fs');\nfor (const n of ['tests.js', 'assert.js', 'node_modules/assert/index.js']) {{ try {{ fs.mkdirSync(n.split('/').slice(0, -1).join('/') || '.', {{ recursive: true }}); fs.writeFileSync(n, 'module.exports = () => {{}};'); }} catch {{}} }}{_ZERO}",
    "other processes": f"const fs = require('fs');\nfor (const p of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) {{ for (const d of [1, 2, 3, 900]) {{ try {{ fs.writeSync(fs.openSync(`/proc/${{p}}/fd/${{d}}`, 'w'), '{{}}'); }} catch {{}} }} }}{_ZERO}",
    "a thread": f"const {{ Worker }} = require('worker_threads');\nnew Worker('process.exit(0)', {{ eval: true }});{_ZERO}",
    "names of the runner": "var test = () => {}, assert = () => {}, console = { assert() {} }, require = () => assert;"
    + _ZERO,
    "a getter that tells arguments": "const seen = [];\nfunction f(x) { seen.push(x); return seen; }\nconst later = async (x) => x;",
}
