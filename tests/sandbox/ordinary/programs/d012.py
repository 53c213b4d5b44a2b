import configparser

config = configparser.ConfigParser()
config.read_string("""
[server]
host = localhost
port = 8080
debug = yes

[paths]
root = /srv/app
logs = %(root)s/logs
""")
print(config.getint("server", "port") + 1, config.getboolean("server", "debug"), config["paths"]["logs"])
print(config.get("server", "missing", fallback="none"))
with open("app.ini", "w") as out:
    config.write(out)
print(sum(1 for _ in open("app.ini")))
