import socket, urllib.request, urllib.error
socket.setdefaulttimeout(2)
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
print(socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)[0][4], socket.inet_aton("1.2.3.4").hex(), socket.getservbyname("http"))
