import { createHash } from "node:crypto";
const blocks = [];
for (const data of ["genesis", "ann pays bob", "bob pays cy"]) {
  const previous = blocks.at(-1)?.hash ?? "0";
  blocks.push({ data, previous: previous.slice(0, 6), hash: createHash("sha256").update(previous + data).digest("hex") });
}
console.log(blocks.map(({ data, previous, hash }) => `${previous} ${hash.slice(0, 6)} ${data}`).join("\n"));
