import requests, threading, http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        b = self.rfile.read(int(self.headers["Content-Length"])); self.send_response(201); self.send_header("X-Len", str(len(b))); self.end_headers(); self.wfile.write(b[::-1])
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
with requests.Session() as ses:
    r = ses.post(f"http://127.0.0.1:{s.server_port}/", data="abc", timeout=5); print(r.status_code, r.text, r.headers["X-Len"])
