import functools
import time


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        wrapper.calls += 1
        wrapper.seconds += time.perf_counter() - start
        return result

    wrapper.calls, wrapper.seconds = 0, 0.0
    return wrapper


@timed
def work(n):
    """Add some numbers."""
    return sum(range(n))


print([work(n) for n in (10, 100, 1000)], work.calls, work.seconds > 0, work.__name__, work.__doc__)


@functools.singledispatch
def describe(value):
    return f"something: {value!r}"


@describe.register
def _(value: int):
    return f"number {value:+d}"


@describe.register(list)
def _(value):
    return f"{len(value)} items"


print(describe(3), describe([1, 2]), describe(None), functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]))
print(functools.partial(int, base=2)("1011"), functools.cmp_to_key(lambda a, b: b - a)(1) < functools.cmp_to_key(lambda a, b: b - a)(0))
