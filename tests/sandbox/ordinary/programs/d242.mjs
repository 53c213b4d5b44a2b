const words = "banana bandana cabana".split(" ");
const trie = {};
for (const word of words) {
  let node = trie;
  for (const letter of word) node = node[letter] ??= {};
  node.end = true;
}
const complete = (prefix) => {
  let node = trie;
  for (const letter of prefix) node = node?.[letter];
  const found = [];
  const walk = (at, text) => {
    if (!at) return;
    if (at.end) found.push(text);
    for (const letter of Object.keys(at).filter((k) => k !== "end")) walk(at[letter], text + letter);
  };
  walk(node, prefix);
  return found;
};
console.log(complete("ban"), complete("x"));
const distance = (a, b) => {
  const row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    let corner = row[0]++;
    for (let j = 1; j <= b.length; j++) [corner, row[j]] = [row[j], Math.min(row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] !== b[j - 1]))];
  }
  return row.at(-1);
};
console.log(distance("kitten", "sitting"), distance("banana", "bandana"));
