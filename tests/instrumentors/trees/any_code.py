"""Agents of no framework: decorators and blocks, sync, async, generators."""

import asyncio
from contextlib import suppress

from spanproof.instrumentors import set_cohort, trace


@trace.tool
def lookup(order_id, factor=1):
    if order_id == "missing":
        raise LookupError("no such order")
    return {"cents": 4500 * factor}


def sync(_):
    @trace.agent(name="clerk")
    def answer(task):
        with trace.step("step 1"):
            found = lookup("A-17", factor=2)
            trace.record_execution(
                "print(9000)", "python", observation="9000\n", logs="9000\n", output=found, is_final=True
            )
        return "$90.00"

    with set_cohort(task="refund"):
        answer("How much?")


def coroutines(_):
    @trace.agent
    async def answer(task):
        await asyncio.sleep(0)
        return lookup("A-17")

    asyncio.run(answer("How much?"))


def generator(_):
    @trace.agent
    def answer(task):
        yield lookup("A")
        yield lookup("B")

    list(answer("go"))


def async_generator(_):
    @trace.agent
    async def answer(task):
        for number in range(2):
            await asyncio.sleep(0)
            yield lookup(str(number))

    async def work():
        return [item async for item in answer("go")]

    asyncio.run(work())


def failed(_):
    @trace.agent
    def answer(task):
        with trace.step("step 1"):
            trace.record_execution("1/0", "python", error=ZeroDivisionError("division by zero"))
        return lookup("missing")

    with suppress(LookupError):
        answer("How much?")
