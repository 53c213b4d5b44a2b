import fs from "node:fs";

fs.writeFileSync("sales.csv", "day,amount\nmon,10.5\ntue,20\nmon,4.5\n");
const [header, ...rows] = fs.readFileSync("sales.csv", "utf8").trim().split("\n").map((line) => line.split(","));
const totals = new Map();
for (const [day, amount] of rows) totals.set(day, (totals.get(day) ?? 0) + Number(amount));
console.log(header.join("|"), Object.fromEntries(totals));
