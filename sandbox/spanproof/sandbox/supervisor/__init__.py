"""What runs, watches and bounds a program, for every backend: the jail, containers and remote machines.

In: a job from the host. Out: the frames that `spanproof.sandbox.guest.outcome` makes an `Execution` of.
A backend brings the place, and takes from here the parts that its place lacks.

- `forkserver`: the processes. `host` starts a `master`, which starts a `spawner` for each supervisor; a
  `supervisor` serves one program after the other, each forked from its `zygote`.
- `run`: one program or session, from job to result: its clock, streams, control channel and limits.
- `seccomp`: the filter of system calls, and the watcher that answers the calls it holds.
- `record`: what a program tried, as the watcher wrote it down.
- `fixtures`: the clock and the random bytes that a run finds fixed; `tape`: its recorded HTTP calls.
- `isolation`: the interfaces that both tiers implement.
- `namespaces`: root file system, network, process tree, memory and control groups of the full tier.
- `reduced`: the same parts for machines that allow no namespaces.
- `node`: the Node.js that runs JavaScript and TypeScript.

No module imports a backend. What runs in the program's own process is in `spanproof.sandbox.guest`.
"""
