"""Advice with CWE numbers: none of it changes the verdict but what crosses the boundary besides."""
import hashlib, os, pickle, random, ssl, subprocess, sys, tarfile, tempfile, time
import requests, yaml
from Crypto.Cipher import AES, DES
from flask import Flask, redirect, request
from lxml import etree
from markupsafe import Markup

app = Flask(__name__)
password = "correct-horse-battery"
reset_token = random.randint(100000, 999999)
session_id = str(time.time())


def find(cursor, name, given):
    cursor.execute("SELECT * FROM users WHERE name = '" + name + "'")
    cursor.execute("SELECT * FROM users WHERE name = ?", (name,))
    subprocess.run("grep " + name + " data.txt", shell=True)
    subprocess.run(["grep", name, "data.txt"])
    print(eval(given))
    return Markup("<b>" + name + "</b>")


open("data/" + sys.argv[1])
tarfile.open("in.tar").extractall("out")
requests.get("https://api.github.com/x", verify=False)
ssl._create_unverified_context()
DES.new(b"8 bytes!", DES.MODE_CBC)
AES.new(b"16 bytes of a key", AES.MODE_ECB)
hashlib.md5(b"a")
hashlib.md5(b"a", usedforsecurity=False)
yaml.load("a: 1", Loader=yaml.Loader)
yaml.safe_load("a: 1")
pickle.loads(pickle.dumps(1))
etree.XMLParser(resolve_entities=True)
os.chmod("out.txt", 0o777)
tempfile.mktemp()
redirect(request.args["next"])
app.run(debug=True)
