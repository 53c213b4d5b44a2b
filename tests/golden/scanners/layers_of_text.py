import base64

inner = "open('/etc/shadow').read()"
layer = base64.b64encode(f"exec({inner!r})".encode())
exec(base64.b64decode(layer).decode())
exec(compile(requests_text := input(), "x", "exec"))
