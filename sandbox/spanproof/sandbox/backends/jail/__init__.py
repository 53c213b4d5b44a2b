"""The default backend: programs in namespaces of their own, on this machine, with nothing but Python.

Read it as it runs. On the host: `backend` → `pool` → `host`, and `outcome` for what comes back. In the jail:
`master` builds the `root` and starts slots; a `slot` arms a guest and has a `run` (or `steps`, for a session)
serve it, with `watch` answering the kernel; `guest` is what shares a process with the program. What holds
and what does not is in docs/sandbox.md.
"""
