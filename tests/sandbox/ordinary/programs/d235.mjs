import net from "node:net";
import { once } from "node:events";

const server = net.createServer((socket) => socket.on("data", (data) => socket.end(`echo ${data}`)));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const client = net.connect(server.address().port, "127.0.0.1");
client.write("hello");
const [reply] = await once(client, "data");
console.log(String(reply), net.isIP("127.0.0.1"), net.isIPv6("::1"));
server.close();
