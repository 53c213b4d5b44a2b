const inventory = [
  { name: "tea", type: "drink", quantity: 5 },
  { name: "bread", type: "food", quantity: 0 },
  { name: "milk", type: "drink", quantity: 12 },
];
const grouped = inventory.reduce((all, item) => ({ ...all, [item.type]: [...(all[item.type] ?? []), item.name] }), {});
console.log(grouped);
console.log(inventory.filter((i) => i.quantity).map((i) => `${i.name} x ${i.quantity}`).join(", "));
console.log([...inventory].sort((a, b) => b.quantity - a.quantity)[0].name, inventory.some((i) => i.quantity === 0));
