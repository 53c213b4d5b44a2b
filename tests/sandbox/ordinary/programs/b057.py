import os
from unittest import mock


def count_logs(folder):
    return sum(1 for name in os.listdir(folder) if name.endswith(".log"))


def notify(client, n):
    if n > 1:
        client.send(subject="many logs", body=f"{n} logs", retries=2)
        return True
    return False


with mock.patch("os.listdir", return_value=["a.log", "b.txt", "c.log"]) as listdir:
    n = count_logs("/anywhere")
    print("counted", n)
    listdir.assert_called_once_with("/anywhere")
client = mock.Mock()
print(notify(client, n), client.send.call_args.kwargs)
client.send.side_effect = [ConnectionError("down"), None]
try:
    notify(client, 5)
except ConnectionError as exc:
    print("first try:", exc)
print(notify(client, 5), client.send.call_count)
with mock.patch.dict(os.environ, {"MODE": "test"}):
    print(os.environ["MODE"])
print("MODE" in os.environ)
