import http.client
import http.server
import threading


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Words", str(len(data.split())))
        self.end_headers()
        self.wfile.write(data.upper())

    def log_message(self, *args):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    conn = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    for text in ("first message here", "second"):
        conn.request("POST", "/echo", body=text.encode())
        reply = conn.getresponse()
        print(reply.status, reply.getheader("X-Words"), reply.read().decode())
    conn.close()
    server.shutdown()
print("closed")
