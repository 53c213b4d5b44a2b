import socket
import threading

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = listener.accept()
    with connection:
        data = connection.recv(100)
        connection.sendall(data.upper())


thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(listener.getsockname()) as client:
    client.sendall(b"hello, server")
    print(client.recv(100).decode())
thread.join()
listener.close()
