"""Settings of backends of remote machines: described once, and parsed from texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from spanproof.sandbox.errors import BadSetting

# Above any number that a setting can mean.
_TOO_MUCH = 1e9


def build_setting(default: Any, text: str, *, least: float = 0, choices: tuple[str, ...] = ()) -> Any:
    """Return a field of settings.

    Args:
        default: its value where it is not given; None where the text says what happens then.
        text: what it is for.
        least: the least value of a number.
        choices: the values that it can have; any text where there are none.
    """
    return field(default=default, metadata={"text": text, "least": least, "choices": choices})


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """What backends of all services have."""

    lifetime_s: int = build_setting(
        300, "seconds after which the service ends a machine that no one ended", least=60
    )
    reuse: int = build_setting(
        50, "programs a machine runs before it is replaced, where it can keep them apart", least=1
    )
    retries: int = build_setting(2, "new machines tried when one fails before the program has started")
    price_per_second: float | None = build_setting(
        None, "price of a machine's second, for the cost that is reported"
    )

    @classmethod
    def read_descriptions(cls) -> dict[str, str]:
        """Return what each setting is for, with its default, by its name; those of all services come last."""
        shared = [setting.name for setting in fields(RemoteSettings)]
        own_first = sorted(fields(cls), key=lambda setting: setting.name in shared)
        return {
            setting.name: setting.metadata["text"]
            + (f" ({setting.default})" if setting.default is not None else "")
            for setting in own_first
        }

    @classmethod
    def parse(cls, backend: str, settings: Mapping[str, str]) -> Self:
        """Parse the values of settings.

        Raises:
            BadSetting: one is not known, is empty, or has no value that it can have.
        """
        declared = {setting.name: setting for setting in fields(cls)}
        values: dict[str, Any] = {}
        for name, text in settings.items():
            if name not in declared:
                reply = ", ".join(cls.read_descriptions())
                raise BadSetting(f"sandbox backend {backend!r} has no setting {name!r} (it has: {reply})")
            if not text:
                raise BadSetting(
                    f"sandbox backend {backend!r}: {name} is empty; leave it out for the default"
                )
            values[name] = _parse_value(f"sandbox backend {backend!r}: {name}={text!r}", declared[name], text)
        return cls(**values)


def _parse_value(shown: str, setting: Field[Any], text: str) -> Any:
    choices = setting.metadata["choices"]
    if choices and text not in choices:
        raise BadSetting(f"{shown} is neither {' nor '.join(choices)}")
    # Annotations are texts.
    kind = str(setting.type).partition(" ")[0]
    if kind == "str":
        return text
    parse, noun = (int, "whole number") if kind == "int" else (float, "number")
    try:
        value = parse(text)
    except ValueError:
        value = None
    least = setting.metadata["least"]
    if value is None or not least <= value < _TOO_MUCH:
        raise BadSetting(f"{shown} is no {noun} of at least {least:g}")
    return value
