"""smolagents: every way a run, a step, a model call or a tool call can go."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import ClassVar

from smolagents import (
    AgentGenerationError,
    ChatMessage,
    LocalPythonExecutor,
    Model,
    PythonExecutor,
    Tool,
    ToolCallingAgent,
)
from smolagents.monitoring import LogLevel

from ..coders import RaisingModel, ScriptedModel, StreamingModel, ToolCallingModel, cents_of, coder, written

_TWO_STEPS = ('print(cents_of("A-17"))', 'final_answer("It is $45.00.")')


def run(_):
    assert coder(*_TWO_STEPS, name="clerk").run("How much?") == "It is $45.00."


def run_streamed(_):
    list(coder(*_TWO_STEPS).run("How much?", stream=True))


def model_streamed(_):
    turns = [written(code) for code in _TWO_STEPS]
    coder(model=StreamingModel(turns), stream_outputs=True, max_steps=3).run("How much?")


def stream_abandoned(_):
    stream = coder(*_TWO_STEPS).run("How much?", stream=True)
    next(stream)
    with suppress(RuntimeError):  # "generator ignored GeneratorExit", as without instrumentation
        stream.close()


def tool_calling(_):
    model = ToolCallingModel([("cents_of", {"order_id": "A-17"})], [("final_answer", {"answer": "4500"})])
    ToolCallingAgent(tools=[cents_of], model=model, verbosity_level=LogLevel.OFF).run("How much?")


def tool_calls_side_by_side(_):
    model = ToolCallingModel(
        [("cents_of", {"order_id": "A-17"}), ("cents_of", {"order_id": "B-02", "factor": 2})],
        [("final_answer", {"answer": "13500"})],
    )
    ToolCallingAgent(tools=[cents_of], model=model, verbosity_level=LogLevel.OFF).run("How much?")


def threads_side_by_side(_):
    agents = [coder(f"final_answer(cents_of('A', {n}))", name=f"agent_{n}") for n in (1, 2, 3)]
    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(lambda agent: agent.run("How much?"), agents)) == [4500, 9000, 13500]


def asyncio_side_by_side(_):
    async def work():
        agents = [coder(f"final_answer(cents_of('A', {n}))", name=f"agent_{n}") for n in (1, 2, 3)]
        await asyncio.gather(*(asyncio.to_thread(agent.run, "How much?") for agent in agents))

    asyncio.run(work())


def answer_checked(_):
    def is_large(answer, memory, agent=None):
        return answer > 10

    assert coder("final_answer(1)", "final_answer(11)", final_answer_checks=[is_large]).run("Go.") == 11


def out_of_steps(_):
    coder("print(1)", max_steps=1).run("Go.")


def planned(_):
    coder("print(1)", "final_answer(2)", planning_interval=2).run("Go.")


def model_failed(_):
    with suppress(AgentGenerationError):
        coder(model=RaisingModel(ConnectionError("provider away"))).run("Go.")


def interrupted_by_keyboard(_):
    with suppress(KeyboardInterrupt):
        coder(model=RaisingModel(KeyboardInterrupt())).run("Go.")


def code_failed(_):
    coder("1 / 0", "print('broken", "cents_of('missing')", "final_answer(1)").run("Go.")


def managed_agent(_):
    helper = coder("final_answer(cents_of('A-17'))", name="helper", description="Looks up.")
    boss = coder(
        "print(helper('look up A-17'))", "final_answer('done')", managed_agents=[helper], name="boss"
    )
    boss.run("Delegate.")


def tools_in_a_snippet(_):
    coder("final_answer(cents_of('A') + cents_of('B', 2))").run("Go.")


class Threaded(Tool):
    name = "threaded"
    description = "Works in raw threads."
    inputs: ClassVar = {}
    output_type = "integer"

    def forward(self) -> int:
        results: list[int] = []
        threads = [threading.Thread(target=lambda: results.append(cents_of("A-17"))) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return sum(results)


def tools_in_threads_side_by_side(_):
    assert coder("final_answer(threaded())", tools=(Threaded(),)).run("Go.") == 9000


class OwnModel(Model):
    def generate(self, messages, **options):
        return ChatMessage(role="assistant", content=written("final_answer(1)"))


class DerivedModel(ScriptedModel):
    def generate(self, messages, **options):
        return super().generate(messages, **options)


def model_of_the_users_own(_):
    coder(model=OwnModel()).run("Go.")
    coder(model=DerivedModel([written("final_answer(1)")])).run("Go.")


def model_called_directly(_):
    OwnModel()([{"role": "user", "content": "hi"}])


class Container(PythonExecutor):
    """Looks like the framework's own executor in a container."""

    image_name = "registry/agent:7"
    container = SimpleNamespace(image=SimpleNamespace(id="sha256:9f86d081"))

    def __init__(self):
        self._inner = LocalPythonExecutor([])

    def send_tools(self, tools):
        self._inner.send_tools(tools)

    def send_variables(self, variables):
        self._inner.send_variables(variables)

    def __call__(self, code_action):
        return self._inner(code_action)


def executor_in_a_container(_):
    coder("print(40 + 2)", "final_answer(1)", executor=Container()).run("Go.")


def within_an_application(recorded):
    tracer = recorded.provider.get_tracer("application")

    class Asking(Tool):
        name = "asking"
        description = "Opens a span."
        inputs: ClassVar = {}
        output_type = "integer"

        def forward(self) -> int:
            with tracer.start_as_current_span("query"):
                return 1

    with tracer.start_as_current_span("request"):
        coder("final_answer(asking())", tools=(Asking(),)).run("Go.")
