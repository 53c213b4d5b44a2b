const tree = (entries, depth = 0) =>
  Object.entries(entries).flatMap(([name, value]) => [
    `${"  ".repeat(depth)}${name}`,
    ...(typeof value === "object" ? tree(value, depth + 1) : []),
  ]);
console.log(tree({ src: { "app.js": 1, lib: { "util.js": 1 } }, "readme.md": 1 }).join("\n"));
console.table([{ name: "ann", age: 3 }, { name: "bob", age: 5 }]);
console.group("group");
console.info("inside");
console.groupEnd();
console.log("%s has %i items", "cart", 3);
