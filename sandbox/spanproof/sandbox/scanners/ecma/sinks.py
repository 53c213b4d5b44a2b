"""What reaches outside a script, by resolved name; the kinds are those of the Python scanner's table."""

from __future__ import annotations

from typing import Final

_TABLE = """
fs.readFile        read 0
fs.createReadStream read 0
fs.readdir         read 0
fs.opendir         read 0
fs.stat            read 0
fs.lstat           read 0
fs.access          read 0
fs.exists          read 0
fs.realpath        none
fs.readlink        read 0
fs.watch           read 0
fs.watchFile       read 0
fs.open            openflags 0
fs.writeFile       write 0
fs.appendFile      write 0
fs.createWriteStream write 0
fs.mkdir           write 0
fs.mkdtemp         write 0
fs.truncate        write 0
fs.utimes          write 0
fs.unlink          delete 0
fs.rm              delete 0
fs.rmdir           delete 0
fs.rename          delete 0; write 1
fs.copyFile        read 0; write 1
fs.cp              read 0; write 1
fs.symlink         read 0; write 1
fs.link            read 0; write 1
fs.chmod           permission 0
fs.chown           permission 0; deny privilege.change
fs-extra.readFile  read 0
fs-extra.remove    delete 0
fs-extra.outputFile write 0
fs-extra.readJson  read 0
fs-extra.copy      read 0; write 1
fs-extra.move      delete 0; write 1
rimraf             delete 0
child_process.exec shell 0
child_process.spawn argv 0
child_process.execFile argv 0
child_process.fork review exec.dynamic
execa              argv 0
shelljs.exec       shell 0
shelljs.rm         delete 1
cross-spawn        argv 0
http.get           url 0
http.request       url 0
https.get          url 0
https.request      url 0
http2.connect      url 0
fetch              url 0
axios              url 0
axios.get          url 0
axios.post         url 0
axios.put          url 0
axios.delete       url 0
axios.patch        url 0
axios.head         url 0
axios.request      url 0
node-fetch         url 0
node-fetch.default url 0
got                url 0
got.get            url 0
got.post           url 0
request            url 0
request.get        url 0
request.post       url 0
superagent.get     url 0
superagent.post    url 0
undici.fetch       url 0
undici.request     url 0
needle.get         url 0
WebSocket          url 0
ws                 url 0
ws.WebSocket       url 0
EventSource        url 0
XMLHttpRequest().open url 1
navigator.sendBeacon url 0
importScripts      url 0
net.connect        address 0
net.createConnection address 0
net.Socket().connect address 0
tls.connect        address 0
dgram.createSocket().send hostat 2
dns.lookup         host 0
dns.resolve        host 0
dns.resolve4       host 0
dns.promises.lookup host 0
nodemailer.createTransport deny network.host
http.createServer  deny network.listen
https.createServer deny network.listen
net.createServer   deny network.listen
express().listen   deny network.listen
Deno.serve         deny network.listen
Bun.serve          deny network.listen
process.kill       deny process.signal
process.abort      review process.signal
process.setuid     deny privilege.change
process.setgid     deny privilege.change
process.seteuid    deny privilege.change
process.chdir      read 0
process.binding    deny exec.native
process.dlopen     deny exec.native
process._linkedBinding deny exec.native
process.getBuiltinModule require 0
cluster.fork       deny process.fork
worker_threads.Worker review exec.dynamic
os.setPriority     deny process.inspect
eval               code 0
Function           codelast 0
vm.runInNewContext code 0
vm.runInThisContext code 0
vm.runInContext    code 0
vm.Script          code 0
vm.compileFunction code 0
setTimeout         codetext 0
setInterval        codetext 0
setImmediate       none
execScript         code 0
module._load       require 0
module.createRequire none
Deno.readTextFile  read 0
Deno.readFile      read 0
Deno.readDir       read 0
Deno.open          read 0
Deno.writeTextFile write 0
Deno.writeFile     write 0
Deno.mkdir         write 0
Deno.remove        delete 0
Deno.rename        delete 0; write 1
Deno.copyFile      read 0; write 1
Deno.run           deny process.start
Deno.Command       argv 0
Deno.connect       address 0
Deno.listen        deny network.listen
Deno.kill          deny process.signal
Deno.env.get       env 0
Deno.env.toObject  envall
Deno.dlopen        deny exec.native
Bun.file           read 0
Bun.write          write 0
Bun.spawn          spawnlist 0
Bun.spawnSync      spawnlist 0
process.loadEnvFile deny environment.read
dotenv.config      review environment.read
"""


def _parse() -> dict[str, tuple[tuple[str, str], ...]]:
    parsed: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in _TABLE.strip().splitlines():
        name, _, effects = line.partition(" ")
        rows = (effect.split() for effect in effects.split(";"))
        parsed[name] = tuple((words[0], words[1] if len(words) > 1 else "") for words in rows)
    return parsed


SINKS: Final = _parse()
"""Effects by resolved name: a kind, and a position or a rule."""

DENIED_MODULES: Final = frozenset(
    {"ffi-napi", "node-pty", "v8", "inspector", "robotjs", "systeminformation", "ps-list"}
)

GLOBALS: Final = frozenset({"globalThis", "global", "window", "self"})
"""Names of the object that holds every other name."""
