"""What runs inside a remote machine: it starts programs there, watches them, and reports what became of them.

Shipped as source when a machine starts, together with the jail's guest, which runs the program itself.
Standard library only.
"""
