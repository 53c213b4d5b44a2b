"""Our way to the current context and the API's are one; `variables/test_tracing.py` has another's."""

import asyncio
import contextvars
from threading import Thread

from opentelemetry import context as api
from opentelemetry.context import Context

from spanproof.instrumentors.spans import contexts


def test_what_one_attaches_the_other_has_and_may_detach():
    before, mine = api.get_current(), Context({"a": 1})
    token = contexts.attach(mine)
    assert api.get_current() is contexts.current() is mine
    api.detach(token)
    assert api.get_current() is contexts.current() is before
    token = api.attach(mine)
    assert contexts.current() is mine
    contexts.detach(token)
    assert contexts.current() is before


def test_a_thread_and_a_task_have_their_own():
    seen = []
    token = contexts.attach(Context({"a": 1}))

    async def within():
        contexts.attach(Context({"a": 2}))
        return dict(contexts.current())

    try:
        thread = Thread(target=lambda: seen.append(contexts.current()))
        thread.start()
        thread.join()
        assert asyncio.run(within()) == {"a": 2}
        assert contexts.current() == {"a": 1}
    finally:
        contexts.detach(token)
    assert seen == [{}]


def test_what_another_has_attached_is_let_be():
    token = contextvars.copy_context().run(contexts.attach, Context({"a": 1}))
    before = contexts.current()
    contexts.detach(token)
    assert contexts.current() is before
