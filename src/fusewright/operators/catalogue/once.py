"""A property that is computed once, without the lock of `functools.cached_property` in 3.11.

Drawing reads a dozen of them a problem for the first time, where the lock would cost most.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 -- it reads as a decorator
    """Turn a method without arguments into an attribute that is computed when first read."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> "once[T]": ...
    @overload
    def __get__(self, owner: object, kind: type) -> T: ...
    def __get__(self, owner: object | None, kind: type) -> "T | once[T]":
        if owner is None:
            return self
        value = self._compute(owner)
        # From now on the instance's own attribute goes before this one.
        owner.__dict__[self._name] = value
        return value
