import { format } from "node:util";
const rows = [["tea", 2, 3.5], ["cup", 1, 8]];
for (const [name, n, price] of rows) console.log(name.padEnd(6) + String(n).padStart(3) + (n * price).toFixed(2).padStart(8));
console.log(format("total %s", rows.reduce((sum, [, n, price]) => sum + n * price, 0)));
