import smtplib
import socket

try:
    smtplib.SMTP("127.0.0.1", 2525, timeout=1)
except OSError as error:
    print("no mail server:", type(error).__name__)
left, right = socket.socketpair()
left.sendall(b"ping")
print(right.recv(10))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
udp.sendto(b"datagram", udp.getsockname())
print(udp.recvfrom(100)[0], socket.inet_aton("10.0.0.1"), socket.htons(1) in (1, 256))
for item in (left, right, udp):
    item.close()
