import net from "node:net";
import { once } from "node:events";

const server = net.createServer((socket) => {
  socket.setEncoding("utf8");
  let buffer = "";
  socket.on("data", (chunk) => {
    buffer += chunk;
    let at;
    while ((at = buffer.indexOf("\n")) >= 0) {
      socket.write([...buffer.slice(0, at)].reverse().join("") + "\n");
      buffer = buffer.slice(at + 1);
    }
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const client = net.connect(server.address().port, "127.0.0.1");
client.setEncoding("utf8");
client.write("stressed\nparts\nlevel\n");
let seen = "";
for await (const chunk of client) {
  seen += chunk;
  if (seen.split("\n").length > 3) break;
}
console.log(seen.trim().split("\n"));
server.close();
await once(server, "close");
console.log("server closed");
