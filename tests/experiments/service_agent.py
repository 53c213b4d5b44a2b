"""An agent that is a service: it continues the trace of its caller and exports to a port of loopback."""

import json
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer

import support_agents
from opentelemetry import context, propagate

from spanproof.instrumentors import register

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    listen_port = free.getsockname()[1]
provider = register(endpoint=f"http://127.0.0.1:{listen_port}", instrument=("smolagents",), batch=False)
support_agents.refund_lines.forward = lambda order_id: support_agents.LINES


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        task = json.loads(self.rfile.read(int(self.headers["content-length"])))["task"]
        token = context.attach(
            propagate.extract({name.lower(): value for name, value in self.headers.items()})
        )
        try:
            answer = support_agents.mended().run(task)
        finally:
            context.detach(token)
        body = json.dumps({"answer": answer}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_message: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, listen_port, flush=True)
server.serve_forever()
