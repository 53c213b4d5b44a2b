// A tiny template engine, as in the web course.
const render = (template, data) =>
  template
    .replace(/{{#each (\w+)}}(.*?){{\/each}}/gs, (_, key, body) => data[key].map((item) => render(body, item)).join(""))
    .replace(/{{(\w+)}}/g, (_, key) => String(data[key] ?? "").replaceAll("&", "&amp;").replaceAll("<", "&lt;"));

console.log(
  render("<h1>{{title}}</h1><ul>{{#each items}}<li>{{name}}: {{price}}</li>{{/each}}</ul>", {
    title: "Tea & <Co>",
    items: [{ name: "Assam", price: 4 }, { name: "Oolong", price: 6 }],
  }),
);
