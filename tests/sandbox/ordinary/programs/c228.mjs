import { Readable, Transform, pipeline } from "stream"; import { promisify } from "util";
const up = new Transform({ transform(c, _, cb) { cb(null, c.toString().toUpperCase()); } }); let s = "";
up.on("data", (c) => (s += c)); await promisify(pipeline)(Readable.from(["a", "b"]), up, async function* (x) { for await (const y of x) yield y; }, async (x) => { for await (const _ of x); });
console.log("piped");
