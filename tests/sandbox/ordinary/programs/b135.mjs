import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

const splitter = new Transform({
  readableObjectMode: true,
  transform(chunk, _enc, done) {
    for (const word of chunk.toString().split(/\s+/).filter(Boolean)) this.push(word);
    done();
  },
});
const upper = new Transform({
  objectMode: true,
  transform(word, _enc, done) {
    done(null, word.length > 3 ? word.toUpperCase() : word);
  },
});
const words = [];
const sink = new Writable({ objectMode: true, write(w, _e, done) { words.push(w); done(); } });
await pipeline(Readable.from(["a stream of ", "words flowing ", "down the pipe\n"]), splitter, upper, sink);
console.log(words.join(" "));
const broken = new Transform({ transform(_c, _e, done) { done(new Error("blocked")); } });
try {
  await pipeline(Readable.from(["x"]), broken, new Writable({ write(_c, _e, d) { d(); } }));
} catch (err) {
  console.log("pipeline failed:", err.message);
}
