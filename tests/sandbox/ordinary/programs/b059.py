import functools
import http.server
import pathlib
import tempfile
import threading
import urllib.request


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


folder = tempfile.TemporaryDirectory()
(pathlib.Path(folder.name) / "hello.txt").write_text("hello over http\n")
(pathlib.Path(folder.name) / "page.html").write_text("<p>page</p>")
handler = functools.partial(Quiet, directory=folder.name)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for name in ("hello.txt", "page.html"):
    url = f"http://127.0.0.1:{server.server_port}/{name}"
    with urllib.request.urlopen(url, timeout=5) as reply:
        print(reply.headers.get_content_type(), reply.headers["Content-Length"], reply.read())
print("server thread left running")
