import socketserver, threading, socket
class H(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(self.rfile.readline()[::-1])
with socketserver.ThreadingTCPServer(("localhost", 0), H) as s:
    threading.Thread(target=s.serve_forever, daemon=True).start(); c = socket.create_connection(s.server_address); c.sendall(b"abc\n"); print(c.recv(9)); c.close(); s.shutdown()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.sendto(b"dg", u.getsockname()); print(u.recvfrom(9)[0]); a, b = socket.socketpair(); socket.send_fds(a, [b"x"], [0]); print(len(socket.recv_fds(b, 1, 1)[1])); print(socket.has_ipv6 in (True, False), socket.ntohs(1), socket.gethostname() == socket.gethostname())
