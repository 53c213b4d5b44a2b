import os
cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "myapp"); os.makedirs(cache, exist_ok=True)
open(os.path.join(cache, "k.json"), "w").write("{}")
for p in ["~/.myapprc", "~/.config/myapp/config.toml", "/etc/myapp.conf"]: print(os.path.exists(os.path.expanduser(p)))
print(os.listdir(cache))
