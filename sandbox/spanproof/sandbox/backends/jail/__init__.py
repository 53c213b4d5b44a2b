"""The default backend: programs in namespaces of their own, on this machine, with nothing but Python.

`backend` takes a program, `pool` lends it a supervisor of `spanproof.sandbox.supervisor`, and `guest.outcome`
makes an `Execution` of the answer. `probe` and `reasons` find out what the machine allows, `build_sandbox`
runs the installers of environments, and `leftovers` removes what killed jails left. docs/sandbox.md says what
is held.
"""
