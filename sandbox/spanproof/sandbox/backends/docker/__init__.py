"""The `docker` backend: programs in containers of a Docker or Podman daemon.

    backend ── pool ── container ══ the daemon ══ inside.py, PID 1 of a container ── the program
    (host process)                 attached stream   (the jail's supervisor, sent as source)

The container is the wall: no network, a read-only image, tmpfs, no capability, limits. What runs, watches
and judges a program inside it is the jail's own supervisor. The `docker` package is imported when a daemon is
requested.
"""
