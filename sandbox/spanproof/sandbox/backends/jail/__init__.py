"""The default backend: programs in namespaces of their own, on this machine, with nothing but Python.

On the host, `backend` takes a program, `pool` lends it a supervisor, and `guest.outcome` makes an `Execution`
of the answer; `probe` and `reasons` find out what the machine allows.

- `forkserver`: the processes. `host` starts a `master`, which starts a `spawner` for each supervisor; a
  `supervisor` serves one program after the other, each forked from its `zygote`.
- `run`: one program or session, from job to result: its clock, streams, control channel and limits.
- `seccomp`: the filter of system calls, and the watcher that records and answers the calls it holds.
- `namespaces`: root file system, network, process tree, memory and control groups of the full tier.
- `reduced`: the same parts for machines that allow no namespaces.
- `isolation`: the interfaces that both tiers implement.

What runs in the program's own process is in `spanproof.sandbox.guest`. docs/sandbox.md says what is held.
"""
