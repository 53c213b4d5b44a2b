import fs from "node:fs";
fs.writeFileSync("todo.json", JSON.stringify([{ text: "write", done: true }, { text: "test", done: false }]));
const todos = JSON.parse(fs.readFileSync("todo.json", "utf8"));
for (const { text, done } of todos) console.log(`[${done ? "x" : " "}] ${text}`);
console.log(todos.filter((t) => !t.done).length, "open");
