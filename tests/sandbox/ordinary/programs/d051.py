import traceback
import warnings


def parse(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError(f"cannot parse {text!r}") from error


try:
    parse("12a")
except RuntimeError as error:
    print(error, "|", error.__cause__)
    print(len(traceback.format_exception(error)) > 2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old call", DeprecationWarning)
print([str(w.message) for w in caught])
try:
    raise ExceptionGroup("many", [ValueError("a"), KeyError("b")])
except* ValueError as group:
    print(group.exceptions)
except* KeyError as group:
    print(group.exceptions)
