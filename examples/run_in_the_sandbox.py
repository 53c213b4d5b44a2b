"""Programs in the sandbox, from Python: one program, one that reaches out, and a session with a tool.

    python examples/run_in_the_sandbox.py

Needs Linux and `pip install spanproof`; nothing else is started, and nothing is sent.
"""

from spanproof.sandbox import Limits, Program, SessionSpec, ToolAnswer, ToolRequest, ToolStub, open_sandbox


def answer(call: ToolRequest) -> ToolAnswer:
    """Answer the one tool that the session has: what a refund is, in cents."""
    return ToolAnswer({"order": call.args[0], "amount_cents": 4500})


with open_sandbox(workers=2) as sandbox:
    # One program, from a fresh state.
    done = sandbox.run(Program("python", "print(6 * 7)", limits=Limits(wall_s=5, memory_bytes=256 * 2**20)))
    print(done.failure_class, done.stdout.strip())

    # What it tried is part of the result, as the kernel saw it.
    source = "import urllib.request\nurllib.request.urlopen('http://203.0.113.9/')"
    tried = sandbox.run(Program("python", source))
    print(tried.failure_class, [(one.kind.value, one.target, one.allowed) for one in tried.attempts])

    # An interpreter that keeps its names, and calls a tool of yours.
    with sandbox.session(SessionSpec(tools=(ToolStub("get_refund"),)), answer) as session:
        session.execute("refund = get_refund('A-17')")
        print(session.execute("refund['amount_cents'] / 100").result)
