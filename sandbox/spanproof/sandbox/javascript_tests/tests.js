// The process of the tests: the program is never here. A name that neither the tests nor Node.js have is the
// program's: its call is looked up in ANSWERS, or noted in `calls` and answered by a placeholder. What is noted is
// carried out by the program in another sandbox, and the tests run again, until each call has its answer.
const nodeAssert = require("node:assert");
const { writeSync } = require("node:fs");

const MOST_CALLS = 1000;
const RUNNERS = new Set(["expect", "jest", "vi", "cy", "chai", "sinon"]);
const report = { calls: [], share: null, lacking: null, noData: null, error: null, syntax: null, results: [] };
let answered = 0;
let stopped = false;
// Whether anything was stopped in this run: its results are not all there are.
let isCut = false;
let isInTest = false;

class Stop extends Error {}
const stop = () => {
  stopped = isCut = true;
  throw new Stop("stopped");
};
const share = (reason) => {
  report.share ??= reason;
  stop();
};

const placeholder = new Proxy(function () {}, {
  get: (_target, key) => {
    if (key === "then") return undefined;
    if (key === Symbol.toPrimitive) return () => 0;
    if (key === Symbol.iterator) return () => [][Symbol.iterator]();
    return placeholder;
  },
  apply: () => placeholder,
  construct: () => placeholder,
});

// What an argument holds that cannot cross.
const checkArgument = (value, seen) => {
  if (value === placeholder) stop();
  if (value instanceof NoData) {
    report.noData ??= value["no data"];
    stop();
  }
  if (typeof value === "function" || typeof value === "symbol") share(`they hand over a ${typeof value}`);
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (encodeValue(value)[0] === "x") share(`they hand over an object of ${value.constructor?.name}`);
  const inner = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value);
  if (!ArrayBuffer.isView(value)) inner.forEach((each) => checkArgument(each, seen));
};

const replaceContent = (target, now) => {
  if (Array.isArray(target)) target.splice(0, target.length, ...now);
  else if (target instanceof Map || target instanceof Set) {
    target.clear();
    now.forEach((value, key) => (target instanceof Map ? target.set(key, value) : target.add(value)));
  } else if (ArrayBuffer.isView(target)) target.set(now);
  else if (typeof target === "object" && target !== null && !(target instanceof Date)) {
    Object.keys(target).forEach((key) => delete target[key]);
    Object.defineProperties(target, Object.getOwnPropertyDescriptors(now));
  }
};

const ask = (module, name, args) => {
  if (stopped) throw new Stop("stopped");
  args.forEach((each) => checkArgument(each, new Set()));
  const call = { module, name, args: args.map((each) => encodeValue(each)) };
  report.calls.push(call);
  if (report.calls.length > MOST_CALLS) stop();
  const known = ANSWERS[answered];
  if (answered !== report.calls.length - 1 || known === undefined) return placeholder;
  if (JSON.stringify(known.call) !== JSON.stringify(call)) return placeholder;
  answered += 1;
  const { kind, value, args: after } = known.answer;
  if (kind === "missing") throw new ReferenceError(`${name} is not defined`);
  if (kind === "value") throw new TypeError(`${name} is not a function`);
  args.forEach((given, at) => {
    const was = JSON.stringify(call.args[at]);
    const now = after[at];
    if (now !== undefined && was !== JSON.stringify(now) && now[0] === call.args[at][0]) {
      replaceContent(given, decodeValue(now));
    }
  });
  const made = decodeValue(value);
  if (kind === "thrown") throw made;
  if (kind === "rejected") return Promise.reject(made);
  return kind === "resolved" ? Promise.resolve(made) : made;
};

const stubs = new Map();
const getStub = (module, name) => {
  const key = JSON.stringify([module, name]);
  if (!stubs.has(key)) {
    const of = name ?? "module.exports";
    const stub = new Proxy(function () {}, {
      apply: (_target, _self, args) => ask(module, name, args),
      construct: () => share(`they make objects of ${of}`),
      get: (_target, member) => {
        if (name === null && typeof member === "string") return getStub(module, member);
        return share(`they read ${of}.${String(member)}`);
      },
      ownKeys: () => share(`they list ${of}`),
      getPrototypeOf: () => share(`they inspect ${of}`),
    });
    stubs.set(key, stub);
  }
  return stubs.get(key);
};

const record = (passed, error, name) => {
  if (error instanceof Stop) return;
  report.results.push({ passed, name: name ?? `assertion ${report.results.length + 1}` });
  if (!passed) report.error ??= describe(error);
};
const describe = (error) => ({
  type: `${error?.name ?? typeof error}`,
  message: `${error?.message ?? error}`.slice(0, 4096),
  code: typeof error?.code === "string" ? error.code : null,
});

// An assertion outside a test counts by itself, and the tests go on behind one that fails.
const wrapAssertion = (check) =>
  function (...args) {
    if (isInTest) return check(...args);
    try {
      const outcome = check(...args);
      if (typeof outcome?.then !== "function") {
        record(true);
        return outcome;
      }
      return outcome.then(
        () => record(true),
        (error) => record(false, error),
      );
    } catch (error) {
      if (stopped) throw error;
      record(false, error);
      return undefined;
    }
  };
const wrapAssert = (original) => {
  const wrapped = wrapAssertion(original);
  for (const key of Object.keys(original)) {
    const isCheck = typeof original[key] === "function" && !/^[A-Z]/.test(key) && key !== "strict";
    wrapped[key] = isCheck ? wrapAssertion(original[key]) : original[key];
  }
  return wrapped;
};
const looseAssert = wrapAssert(nodeAssert);
const strictAssert = wrapAssert(nodeAssert.strict);
looseAssert.strict = strictAssert.strict = strictAssert;
console.assert = (holds, ...message) => looseAssert(holds, message.length > 0 ? message.join(" ") : undefined);

// node:test, as far as names, order and hooks go.
const planned = [];
const hooks = { before: [], after: [], beforeEach: [], afterEach: [] };
let group = [];
const test = (name, ...rest) => {
  const run = rest.find((each) => typeof each === "function");
  const options = rest.find((each) => typeof each === "object" && each !== null) ?? {};
  if (run === undefined || options.skip || options.todo) return;
  planned.push({ name: [...group, typeof name === "string" ? name : name.name].join(" > "), run });
};
test.skip = test.todo = () => undefined;
test.only = test.test = test.it = test;
const describeTests = (name, ...rest) => {
  group = [...group, name];
  rest.find((each) => typeof each === "function")?.();
  group = group.slice(0, -1);
};
describeTests.skip = describeTests.todo = () => undefined;
const runner = Object.fromEntries(Object.keys(hooks).map((kind) => [kind, (run) => void hooks[kind].push(run)]));
Object.assign(test, { test, it: test, describe: describeTests, suite: describeTests, ...runner });

const ownRequire = (name) => {
  const bare = name.replace(/^node:/, "");
  if (bare === "assert") return looseAssert;
  if (bare === "assert/strict") return strictAssert;
  if (name === "node:test") return test;
  if (/^\.{0,2}\//.test(name)) return getStub(name, null);
  return require(name);
};
ownRequire.resolve = require.resolve;

const given = {
  require: ownRequire, module: { exports: {} }, exports: {}, test, it: test, describe: describeTests, ...runner,
  __filename: "tests.js", __dirname: ".",
};
// Names that the tests assign without a block's declaration: `var` and none.
const assigned = new Map();
const names = new Proxy(Object.create(null), {
  has: (_target, key) =>
    typeof key === "string" && (key === ENTRY || !(key in globalThis || key in given || key === "arguments")),
  set: (_target, key, value) => {
    assigned.set(key, value);
    return true;
  },
  get: (_target, key) => {
    if (typeof key !== "string") return undefined;
    if (assigned.has(key)) return assigned.get(key);
    if (RUNNERS.has(key)) {
      report.lacking ??= `the tests use ${key}, which is not run; write assertions of node:assert`;
      stop();
    }
    return getStub(null, key);
  },
});

const fail = (error) => {
  if (error instanceof Stop) return;
  if (error?.code === "MODULE_NOT_FOUND" || error?.code === "ERR_UNKNOWN_BUILTIN_MODULE") {
    report.lacking ??= `the tests import what the sandbox lacks: ${describe(error).message.split("\n")[0]}`;
  }
  record(false, error, "the tests' end");
};
const run = async () => {
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  let body;
  try {
    body = new AsyncFunction("names", ...Object.keys(given), `with (names) {\n${TESTS}\n}`);
  } catch (error) {
    report.syntax = describe(error);
    return;
  }
  try {
    await body(names, ...Object.values(given));
    isInTest = true;
    for (const hook of planned.length > 0 ? hooks.before : []) await hook();
    for (const each of planned) {
      stopped = report.share !== null || report.lacking !== null;
      try {
        for (const hook of hooks.beforeEach) await hook();
        await each.run({ name: each.name, test });
        for (const hook of hooks.afterEach) await hook();
        record(true, undefined, each.name);
      } catch (error) {
        record(false, error, each.name);
      }
    }
    for (const hook of planned.length > 0 ? hooks.after : []) await hook();
  } catch (error) {
    fail(error);
  }
};
process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
process.on("exit", () => {
  const isComplete = answered === report.calls.length && !isCut;
  const bytes = Buffer.from(`\n${MARK}${JSON.stringify({ ...report, isComplete })}\n`);
  for (let from = 0; from < bytes.length; ) {
    try {
      from += writeSync(1, bytes, from);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
  process.exitCode = 0;
});
run();
