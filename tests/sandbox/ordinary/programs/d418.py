import http.server
import json
import threading
import urllib.error
import urllib.request


class Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path == "/health"
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"ok": known}).encode())

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Api)
thread = threading.Thread(target=server.serve_forever)
thread.start()
base = f"http://127.0.0.1:{server.server_port}"
print(json.load(urllib.request.urlopen(base + "/health")))
try:
    urllib.request.urlopen(base + "/other")
except urllib.error.HTTPError as error:
    print(error.code)
server.shutdown()
thread.join()
server.server_close()
