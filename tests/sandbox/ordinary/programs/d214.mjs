import http from "node:http";

const users = [{ id: 1, name: "Ann" }];
const server = http.createServer(async (request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.method === "POST") {
    let body = "";
    for await (const chunk of request) body += chunk;
    users.push({ id: users.length + 1, ...JSON.parse(body) });
    response.statusCode = 201;
  }
  response.end(JSON.stringify(users));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}/users`;
const created = await fetch(base, { method: "POST", body: JSON.stringify({ name: "Bob" }) });
console.log(created.status, await (await fetch(base)).json());
server.closeAllConnections();
server.close();
