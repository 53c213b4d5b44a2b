import socket
try:
    print(socket.gethostbyname("localhost"))
    s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); a, _ = s.accept()
    c.sendall(b"hi"); print(a.recv(2))
except OSError as e:
    print("network:", e)
