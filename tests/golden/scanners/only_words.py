"""Talks about os.system, /etc/passwd and eval, and does nothing of it."""

ROUTES = {"/issues": "list", "/etc/passwd": "denied"}
# os.environ["SECRET"]; subprocess.run(["rm", "-rf", "/"])
print("rm -rf /", ROUTES["/issues"], len("https://evil.test"))
