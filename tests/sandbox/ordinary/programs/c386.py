import xmlrpc.client, xmlrpc.server, threading, json, wsgiref.simple_server as w, urllib.request
s = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False); s.register_function(lambda a, b: a + b, "add"); threading.Thread(target=s.serve_forever, daemon=True).start(); print(xmlrpc.client.ServerProxy(f"http://127.0.0.1:{s.server_address[1]}").add(2, 3)); s.shutdown()
def app(e, start): start("200 OK", [("Content-Type", "text/plain")]); return [e["PATH_INFO"].encode()]
class Q(w.WSGIRequestHandler):
    def log_message(self, *a): pass
h = w.make_server("127.0.0.1", 0, app, handler_class=Q); threading.Thread(target=h.handle_request, daemon=True).start(); print(urllib.request.urlopen(f"http://127.0.0.1:{h.server_port}/zz").read())
