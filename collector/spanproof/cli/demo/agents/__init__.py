"""The demo's agents: real frameworks, real tools, real executors; only the model follows a script.

They run in a process of their own (`python -m spanproof.cli.demo.agents`), instrumented and exporting as any
user's agents would.
"""
