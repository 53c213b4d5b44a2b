import configparser
import sys
import tomllib

INI = """
[DEFAULT]
timeout = 30
[server]
host = localhost
port = 8080
debug = yes
url = http://%(host)s:%(port)s/
"""
TOML = """
title = "demo"
[server]
port = 9090
tags = ["a", "b"]
start = 2022-02-03T04:05:06Z
"""
ini = configparser.ConfigParser()
ini.read_string(INI)
server = ini["server"]
print(server["url"], server.getboolean("debug"), server.getint("timeout"))
toml = tomllib.loads(TOML)
merged = dict(server) | {k: str(v) for k, v in toml["server"].items()}
for key in sorted(merged):
    print(f"{key} = {merged[key]}")
ini.remove_option("server", "debug")
ini["server"]["port"] = merged["port"]
ini.write(sys.stdout)
