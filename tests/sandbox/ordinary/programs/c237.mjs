import http from "http";
const s = http.createServer((q, r) => { r.setHeader("x", "1"); r.end(q.url); }).listen(0, "127.0.0.1");
await new Promise((r) => s.on("listening", r));
const r = await fetch(`http://127.0.0.1:${s.address().port}/a?b`); console.log(r.status, await r.text()); s.close(); s.closeAllConnections();
