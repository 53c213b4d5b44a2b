"""A DSPy agent that writes code (CodeAct) under OpenInference's instrumentor."""

import dspy
from openinference.instrumentation.dspy import DSPyInstrumentor
from story import ANSWER, CODE, INSTRUCTIONS, TASK, stock_of

FAILING = "print(stock_of(9))"


class Scripted(dspy.LM):
    """Answers in the form that DSPy's chat adapter expects."""

    def forward(self, prompt=None, messages=None, **kwargs):
        from types import SimpleNamespace as Namespace

        text = messages[-1]["content"]
        if "generated_code" in text.rpartition("Respond with")[2]:
            is_first = "generated_code_0" not in text
            code = CODE if is_first else FAILING
            fields = {"generated_code": f"```python\n{code}\n```", "finished": str(not is_first)}
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


class Interpreter:
    """What the model's two snippets do is known, and nothing is run."""

    tools = None

    def start(self):
        pass

    def execute(self, code, variables=None):
        if code == FAILING:
            raise dspy.primitives.code_interpreter.CodeExecutionError("StockError: ['no shelf 9']")
        return "36\n" if code == CODE else None

    def shutdown(self):
        pass


def run(url, provider):
    DSPyInstrumentor().instrument(tracer_provider=provider)
    dspy.configure(lm=Scripted(model="openai/scripted", cache=False), adapter=dspy.ChatAdapter())
    question = dspy.Signature("question -> answer", INSTRUCTIONS)
    dspy.CodeAct(question, tools=[stock_of], interpreter_factory=Interpreter)(question=TASK)
