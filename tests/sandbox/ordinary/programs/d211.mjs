import readline from "node:readline";
import { Readable } from "node:stream";

const input = Readable.from(["host = a\n# comment\nport = ", "80\n"]);
const settings = {};
for await (const line of readline.createInterface({ input })) {
  const match = line.match(/^(\w+)\s*=\s*(.+)$/);
  if (match) settings[match[1]] = match[2];
}
console.log(settings);
