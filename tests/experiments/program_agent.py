"""An agent that is a program: it reads a task, answers it, and exports its own spans."""

import sys

import support_agents

from spanproof.instrumentors import register

provider = register(instrument=("smolagents",), batch=False)
support_agents.refund_lines.forward = lambda order_id: support_agents.LINES
print(support_agents.mended().run(sys.stdin.read()))
provider.force_flush()
