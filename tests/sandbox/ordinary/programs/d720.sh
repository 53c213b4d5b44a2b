#!/usr/bin/env bash
node -e 'console.log([1, 2, 3].map((n) => n * n).join(" "))'
echo '{"name": "tea", "price": 4}' | node -e '
  let text = "";
  process.stdin.on("data", (d) => (text += d)).on("end", () => {
    const { name, price } = JSON.parse(text);
    console.log(`${name} costs ${price.toFixed(2)}`);
  });'
node -p '"abc".toUpperCase()'
node --check /dev/null < /dev/null && echo "syntax is fine"
echo 'throw new Error("no")' > bad.js; node bad.js 2> /dev/null || echo "exit $?"
