import multiprocessing as mp
import time


def echo(conn):
    while True:
        message = conn.recv()
        if message == "hang":
            time.sleep(600)
        conn.send(message[::-1])


if __name__ == "__main__":
    here, there = mp.Pipe()
    child = mp.Process(target=echo, args=(there,))
    child.start()
    for text in ["stressed", "drawer", "level"]:
        here.send(text)
        print(text, "->", here.recv())
    here.send("hang")
    print("answered:", here.poll(0.1))
    child.terminate()
    child.join(10)
    print("exit code", child.exitcode)
