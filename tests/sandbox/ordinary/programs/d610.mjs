const graph = { a: ["b", "c"], b: ["d"], c: ["d"], d: ["e"], e: [] };
const order = [];
const visited = new Set();
const visit = (node, path = []) => {
  if (path.includes(node)) throw new Error(`cycle: ${[...path, node].join(" > ")}`);
  if (visited.has(node)) return;
  visited.add(node);
  for (const next of graph[node]) visit(next, [...path, node]);
  order.unshift(node);
};
Object.keys(graph).forEach((node) => visit(node));
console.log(order.join(" "));
graph.e.push("a");
visited.clear();
try {
  visit("a");
} catch (error) {
  console.log(error.message);
}
