import http.server, threading, urllib.request, json
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(json.dumps({"path": self.path}).encode())
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
print(json.load(urllib.request.urlopen(f"http://127.0.0.1:{s.server_port}/a?b=1")))
s.shutdown()
