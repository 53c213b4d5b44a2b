import os
import shelve
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "shelf")
    with shelve.open(path) as shelf:
        shelf["users"] = ["ann", "bob"]
        shelf["limits"] = {"cpu": 2, "mem": 512}
        shelf["users"].append("lost")
        print(shelf["users"])
    with shelve.open(path, writeback=True) as shelf:
        shelf["users"].append("kept")
        shelf["limits"]["mem"] *= 2
        del shelf["limits"]["cpu"]
    with shelve.open(path, flag="r") as shelf:
        for key in sorted(shelf):
            print(key, shelf[key])
        print("missing" in shelf, shelf.get("missing", "default"))
