import { Readable, Writable, Duplex, PassThrough } from "stream";
const w = new Writable({ objectMode: true, write(o, _, cb) { console.log(o); cb(); } });
Readable.from([{ a: 1 }, { a: 2 }]).pipe(w); const p = new PassThrough(); p.end("x"); for await (const c of p) console.log(c.toString());
console.log(await Readable.from([1, 2, 3]).map((x) => x * 2).toArray(), Duplex.from(["q"]).readable);
