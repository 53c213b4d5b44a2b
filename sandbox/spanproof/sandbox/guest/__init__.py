"""What runs inside the jail beside the program: it starts the program, and reports what it saw of it.

Everything here shares a process with hostile code, so nothing it says is believed further than it can be
checked: see `spanproof.sandbox.guest.outcome`. Standard library only; preloaded once, before the fork.
"""
