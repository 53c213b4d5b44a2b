import selectors
import socket
import threading

left, right = socket.socketpair()


def talk(sock):
    for word in ("alpha", "beta", "gamma"):
        sock.sendall(word.encode() + b"\n")
        sock.recv(1)
    sock.close()


thread = threading.Thread(target=talk, args=(right,))
thread.start()
sel = selectors.DefaultSelector()
sel.register(left, selectors.EVENT_READ)
running = True
while running:
    for key, _ in sel.select(timeout=5):
        data = key.fileobj.recv(100)
        if not data:
            sel.unregister(left)
            running = False
            break
        print("got", data.decode().strip())
        left.send(b".")
thread.join()
left.close()
sel.close()
print("peer closed")
