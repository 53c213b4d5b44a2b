import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/square/"):
            n = int(self.path.rsplit("/", 1)[1])
            body = json.dumps({"n": n, "square": n * n}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)
        else:
            self.send_error(404)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever, daemon=True)
thread.start()
base = f"http://127.0.0.1:{server.server_port}"
for n in (3, 12):
    with urllib.request.urlopen(f"{base}/square/{n}", timeout=5) as reply:
        print(reply.status, json.load(reply))
try:
    urllib.request.urlopen(base + "/nothing", timeout=5)
except urllib.error.HTTPError as exc:
    print("error", exc.code)
server.shutdown()
server.server_close()
thread.join()
