#!/usr/bin/env bash
set -euo pipefail
node -p '[3, 1, 2].sort().join("-")'
node -e 'console.log(process.argv.slice(1))' one two
echo '{"x": {"y": [1, 2, 3]}}' | node -e '
let text = "";
process.stdin.on("data", (d) => (text += d)).on("end", () => {
  console.log(JSON.parse(text).x.y.reduce((a, b) => a + b));
});'
COLOUR=green node -p 'process.env.COLOUR.toUpperCase()'
node -e 'process.exit(6)' || echo "node exit code $?"
node --input-type=module -e 'import { basename } from "node:path"; console.log(basename("/a/b.txt", ".txt"))'
node -p 'Buffer.from("hello").toString("base64")'
