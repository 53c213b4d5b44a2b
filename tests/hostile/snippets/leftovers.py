# ruff: noqa: E501 - programs keep their lines
"""Attacks by what a program leaves behind, which acts when the program itself is over."""

from __future__ import annotations

from .model import Hostile, hostile

_PLANTED = ("file", "/etc/planted")
_PLANT = """
import ctypes, os, signal, socket, sys, threading, time
def plant():
    try: os.close(os.open("/etc/planted", os.O_WRONLY | os.O_CREAT)); os.write(1, b"BREACH")
    except OSError: pass
def connect(port=443):
    try: socket.create_connection(("192.0.2.1", port), timeout=3); os.write(1, b"BREACH")
    except TimeoutError: os.write(1, b"BREACH: a packet went out")
    except OSError: pass
"""

SNIPPETS: list[Hostile] = [
    hostile(
        "a thread that goes on after the last line",
        _PLANT + "threading.Thread(target=lambda: (time.sleep(0.3), plant())).start()",
        _PLANTED,
        "ok",
    ),
    hostile(
        "a timer that sets the next one, and then connects",
        _PLANT
        + "def step(n): threading.Timer(0.1, step, (n - 1,)).start() if n else connect()\nthreading.Timer(0.1, step, (2,)).start()",
        ("network", "192.0.2.1:443"),
        "ok",
    ),
    hostile(
        "a daemon by two forks",
        r"""
        (
          { sleep 0.5; (echo x > /etc/planted) 2>/dev/null && echo BREACH; } </dev/null &
        ) &
        wait
        """,
        None,
        "ok",
        "bash",
    ),
    hostile(
        "workers that lose their parent",
        _PLANT
        + """
import multiprocessing
def late(_): time.sleep(0.5); plant(); os._exit(0)
pool = multiprocessing.get_context("fork").Pool(2)
for number in range(2): pool.apply_async(late, (number,))
time.sleep(0.2)
os._exit(0)
""",
        None,
        "ok",
    ),
    hostile(
        "a task that is not to be cancelled",
        """
        import asyncio
        async def late():
            try: await asyncio.sleep(60)
            except asyncio.CancelledError:
                try: await asyncio.wait_for(asyncio.open_connection("192.0.2.1", 80), 3); print("BREACH")
                except asyncio.TimeoutError: print("BREACH: a packet went out")
                except OSError: pass
        async def main():
            global task
            task = asyncio.create_task(late()); await asyncio.sleep(0)
        asyncio.run(main())
        """,
        ("network", "192.0.2.1:80"),
        "ok",
    ),
    hostile(
        "a child that is told of its parent's death",
        _PLANT
        + """
if os.fork() == 0:
    os.setsid(); signal.signal(signal.SIGUSR1, lambda *_: (plant(), os._exit(0)))
    ctypes.CDLL(None).prctl(1, signal.SIGUSR1, 0, 0, 0); signal.alarm(15)
    while True: signal.pause()
time.sleep(0.3)
""",
        None,
        "ok",
    ),
    hostile(
        "a child that waits for the last file",
        _PLANT
        + """
import select
libc = ctypes.CDLL(None); os.mkdir("watched")
if os.fork() == 0:
    os.setsid(); fd = libc.inotify_init1(0); libc.inotify_add_watch(fd, b"watched", 0x100)
    if select.select([fd], [], [], 12)[0]: time.sleep(0.3); plant()
    os._exit(0)
time.sleep(0.3); open("watched/over", "w").close()
""",
        None,
        "ok",
    ),
    hostile(
        "a detached Node.js",
        """
        import { spawn } from 'node:child_process';
        const late = `setTimeout(() => {
          const s = require('node:net').connect({ host: '169.254.169.254', port: 80 });
          s.on('connect', () => console.log('BREACH')); s.on('error', () => {});
        }, 300)`;
        spawn(process.execPath, ['-e', late], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).unref();
        """,
        ("process", "node"),
        "ok",
        "javascript",
    ),
    hostile(
        "a job that ignores every signal it may",
        r"""
        main=$$
        (
          trap '' HUP INT TERM QUIT
          while kill -0 "$main" 2>/dev/null; do sleep 0.1; done
          (echo x > /usr/local/bin/planted) 2>/dev/null && echo BREACH
        ) </dev/null &
        disown -a
        sleep 0.3
        """,
        ("process", "sleep"),
        "ok",
        "bash",
    ),
    hostile(
        "a job for a service that outlives it",
        r"""
        for way in "at now + 1 minute" batch "systemd-run --user --on-active=5 --collect true" "systemd-run --on-active=5 --collect true"; do
          echo true | timeout 5 $way >/dev/null 2>&1 && echo BREACH "$way"
        done
        exec 3<>/run/systemd/private && echo BREACH
        exit 0
        """,
        None,
        "ok",
        "bash",
    ),
    hostile(
        "engines of containers, when nothing is left to do",
        """
        import fs from 'node:fs';
        import net from 'node:net';
        process.once('beforeExit', () => setTimeout(() => {
          for (const path of ['/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock']) {
            const s = net.connect({ path });
            s.on('connect', () => fs.writeSync(1, 'BREACH'));
            s.on('error', () => {});
          }
        }, 100));
        """,
        ("file", "/run/podman/podman.sock"),
        "ok",
        "javascript",
    ),
    hostile(
        "a grandchild that the end of a pipe wakes",
        _PLANT
        + """
import select
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.close(w)
    if select.select([r], [], [], 12)[0]: time.sleep(0.3); plant()
    os._exit(0)
os.waitpid(pid, 0)
""",
        None,
        "ok",
    ),
]
