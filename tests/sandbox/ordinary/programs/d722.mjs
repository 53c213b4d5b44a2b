const html = ([first, ...rest], ...values) =>
  rest.reduce((text, part, i) => text + String(values[i]).replace(/[<>&]/g, (c) => `&#${c.charCodeAt(0)};`) + part, first);
console.log(html`<p>${"a < b & c"}</p>`);
const label = { 404: "not found", 200: "ok" };
switch (typeof label[404]) {
  case "string": console.log(label[404]); // falls through
  default: console.log("end");
}
outer: for (const a of [1, 2, 3]) for (const b of [1, 2, 3]) { if (a * b === 6) { console.log(a, b); break outer; } }
console.log([3, 20, 100].sort(), [3, 20, 100].toSorted((a, b) => b - a), 0.1 + 0.2, (0.1 + 0.2).toFixed(2), parseInt("12px"), +"", [] + {});
