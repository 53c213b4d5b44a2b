import { Readable } from "node:stream";
const text = Readable.from(["al", "pha\nbe", "ta\n"]);
let rest = "";
for await (const part of text) {
  const lines = (rest + part).split("\n");
  rest = lines.pop();
  for (const line of lines) console.log(line.toUpperCase());
}
