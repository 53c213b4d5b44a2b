"""A stand-in for one of the host's objects that differs in a single method."""

from __future__ import annotations

from typing import Any, NoReturn


class Delegate:
    """Forward attributes, `isinstance` and `repr` to the wrapped object.

    A subclass overrides one special method.

    Attributes:
        __wrapped__: the object.
    """

    def __init__(self, wrapped: Any, **own: Any) -> None:
        self.__dict__.update(own, __wrapped__=wrapped)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # A copy would be one of the wrapped object: without the guard, for one.
        raise TypeError(f"a wrapped {type(self.__wrapped__).__name__} cannot be copied or pickled")
