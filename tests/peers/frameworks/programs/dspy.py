"""A DSPy agent (ReAct) under OpenInference's instrumentor."""

import dspy
from openinference.instrumentation.dspy import DSPyInstrumentor
from story import ANSWER, CALLS, INSTRUCTIONS, TASK, run_python, stock_of


class Scripted(dspy.LM):
    """Answers in the form that DSPy's chat adapter expects."""

    def forward(self, prompt=None, messages=None, **kwargs):
        import json
        from types import SimpleNamespace as Namespace

        text = messages[-1]["content"]
        made = sum(
            f"[[ ## observation_{index}" in text or f'"observation_{index}"' in text for index in range(5)
        )
        if "next_tool_name" in text.rpartition("Respond with")[2]:
            name, arguments = CALLS[made] if made < len(CALLS) else ("finish", {})
            fields = {
                "next_thought": "I compute it.",
                "next_tool_name": name,
                "next_tool_args": json.dumps(arguments),
            }
        else:
            fields = {"reasoning": "It is computed.", "answer": ANSWER}
        body = "\n\n".join(
            f"[[ ## {name} ## ]]\n{value}" for name, value in {**fields, "completed": ""}.items()
        )
        message = Namespace(content=body, tool_calls=None)
        usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
        return Namespace(
            choices=[Namespace(message=message, finish_reason="stop")], usage=usage, model=self.model
        )


def run(url, provider):
    DSPyInstrumentor().instrument(tracer_provider=provider)
    dspy.configure(lm=Scripted(model="openai/scripted", cache=False), adapter=dspy.ChatAdapter())
    question = dspy.Signature("question -> answer", INSTRUCTIONS)
    dspy.ReAct(question, tools=[run_python, stock_of])(question=TASK)
