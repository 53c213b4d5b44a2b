"""Detection of the code in a trace.

`detect` takes a trace and gives its snippets, in order: code that ran (recorded on a step, given to a code
tool, run by a hosted interpreter) and code that was only proposed in a model's words. The same code on
several spans is one snippet, tied to the span that ran it; code that ran twice is two. Data is no code:
JSON and YAML in a model's words, arguments of ordinary tools. Nothing is run.
"""

from spanproof.evaluators.detect.text import TextSnippet, list_text_snippets
from spanproof.evaluators.detect.traces import list_snippets

__all__ = ["TextSnippet", "list_snippets", "list_text_snippets"]
