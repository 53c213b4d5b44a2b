import net from "net";
const s = net.createServer((c) => c.on("data", (d) => c.end(d.toString().toUpperCase()))).listen("x.sock");
await new Promise((r) => s.on("listening", r));
const c = net.connect("x.sock"); c.write("ping"); for await (const d of c) console.log(String(d)); s.close(); console.log(net.isIP("::1"));
