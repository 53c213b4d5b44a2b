import { Duplex, PassThrough, finished } from "node:stream";
import { text, json } from "node:stream/consumers";
import { createGzip, createGunzip } from "node:zlib";

const source = new PassThrough();
const result = text(source.pipe(createGzip()).pipe(createGunzip()));
for (const word of ["streams ", "are ", "fun"]) source.write(word);
source.end();
console.log(await result);
console.log(await json(Duplex.from(['{"a":', "1}"])));
const broken = new PassThrough();
finished(broken, (error) => console.log("finished:", error.message));
broken.destroy(new Error("cable pulled"));
