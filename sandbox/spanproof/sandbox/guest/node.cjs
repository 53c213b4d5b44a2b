// What runs in node before the program: it tells the slot, in one frame, what ended the program.
//
// In: the run's token, in the environment. Out: a frame as wire.py reads it, on the control descriptor. It shares
// the program's interpreter, so what it says is believed no further than a report of the Python guest.
"use strict";

const { readSync, writeSync } = require("node:fs");
const { dirname } = require("node:path");
const CONTROL = 900;
const escaped = (path) => path.replace(/[^\w/]/g, "\\$&");
const PROGRAM = new RegExp(`${escaped(__dirname)}/main\\.(?:js|ts):(\\d+)`);
const FRAME = new RegExp(`^ {4}at .*${escaped(dirname(__dirname))}/(?!code/node\\.cjs)`, "m");
const MISSING = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_UNKNOWN_BUILTIN_MODULE"]);
const REFUSED = new Set(["EACCES", "EPERM", "EROFS"]);
const CHAIN = 16;
// Kept from before the program, which may put another function in its place.
const { stringify } = JSON;

const token = process.env.SPANPROOF_TOKEN;
delete process.env.SPANPROOF_TOKEN;

const text = (value, most) => {
  try {
    return String(value).slice(0, most);
  } catch {
    return "<no text>";
  }
};

const behind = (error) => {
  const found = [];
  const waiting = [error];
  while (waiting.length > 0 && found.length < CHAIN) {
    const one = waiting.shift();
    const nearer = [one?.cause, ...(Array.isArray(one?.errors) ? one.errors.slice(0, CHAIN) : [])];
    for (const other of nearer) {
      if (other instanceof Error && other !== error && !found.includes(other)) {
        found.push(other);
        waiting.push(other);
      }
    }
  }
  return found.slice(0, CHAIN);
};

const nameOf = (error) => text(error instanceof Error ? error.name : typeof error, 200);

const describe = (error) => {
  const chain = behind(error);
  const all = [error, ...chain].filter((one) => one instanceof Error);
  const line = PROGRAM.exec(text(error?.stack, 65536));
  const path = all.find((one) => typeof one.path === "string")?.path ?? null;
  return {
    type: nameOf(error),
    message: text(error instanceof Error ? error.message : error, 4096),
    chain: chain.map(nameOf),
    line: line ? Number(line[1]) : null,
    assertion: error?.code === "ERR_ASSERTION",
    missing: MISSING.has(error?.code),
    memory: all.some((one) => one instanceof RangeError && one.message === "Array buffer allocation failed"),
    os: all.some((one) => typeof one.syscall === "string"),
    permission: all.some((one) => REFUSED.has(one.code)),
    path: path && text(path, 4096),
    process: typeof error?.status === "number" && Array.isArray(error?.output),
  };
};

// One that no code of the program has raised is about the code itself.
const unreadable = (error) => error instanceof SyntaxError && !FRAME.test(text(error.stack, 65536));

const report = (header) => {
  const body = Buffer.from(stringify(header));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length, 0);
  writeSync(CONTROL, Buffer.concat([head, body]));
};

process.on("uncaughtExceptionMonitor", (error) => {
  try {
    const kind = unreadable(error) ? "syntax" : "raised";
    report({ kind, token, raised: describe(error), parts: [] });
  } catch {
    // The exit code still tells that it failed.
  }
});

// Started ahead: the program is read when the slot says that it is there; what takes long is done before.
if (process.env.SPANPROOF_WAITS) {
  delete process.env.SPANPROOF_WAITS;
  for (const name of ["net", "path", "tty", "url", "util"]) {
    require(`node:${name}`);
  }
  const { Writable } = require("node:stream");
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Whether to use colours is a question to standard error, which is the program's to open.
  new (require("node:console").Console)({ stdout: nowhere, colorMode: false }).log("%s", "x", { a: [1] });
  if (process.argv[1].endsWith(".ts")) {
    // Each part of the compiler is made ready at its first use.
    const source =
      "enum A { B = 1 }\ninterface P { a: number }\nclass C<T> { constructor(readonly q: T) {} }\n" +
      "export const f = async (x: P): Promise<number> => (x.a as number) + A.B;";
    require("node:module").stripTypeScriptTypes(source, { mode: "transform" });
  }
  report({ kind: "waiting", token, parts: [] });
  readSync(CONTROL, Buffer.alloc(1));
}
