import http from "node:http";
import { once } from "node:events";

const server = http.createServer(async (req, res) => {
  if (req.method === "POST") {
    let body = "";
    for await (const chunk of req) body += chunk;
    const numbers = JSON.parse(body);
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify({ sum: numbers.reduce((a, b) => a + b, 0) }));
  } else {
    res.statusCode = req.url === "/" ? 200 : 404;
    res.end(`you asked for ${req.url}`);
  }
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const base = `http://127.0.0.1:${server.address().port}`;
for (const path of ["/", "/other"]) {
  const reply = await fetch(base + path);
  console.log(reply.status, await reply.text());
}
const reply = await fetch(base, { method: "POST", body: JSON.stringify([1, 2, 39]) });
console.log(await reply.json());
server.closeAllConnections();
server.close();
await once(server, "close");
console.log("closed");
