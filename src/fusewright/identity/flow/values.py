"""What a name may stand for while a text is followed. A tensor is an integer: its digest."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fusewright.identity.program import Function

LONGEST = 2_000
"""Items of a list, before a text made to be costly is cut off."""


@dataclass(frozen=True)
class Scalar:
    """A number, a shape, a setting: whatever is no tensor."""


SCALAR = Scalar()


@dataclass(frozen=True)
class Foreign:
    """A function or class of torch or of another library, or what such a class made."""

    path: str
    is_made: bool = False


@dataclass(eq=False)
class Instance:
    """An object of a class of the file."""

    cls: ast.ClassDef
    attributes: dict[str, "Value"] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Method:
    """A function of the file, bound to an object or to none, with the names around it."""

    owner: Instance | None
    function: Function | ast.Lambda
    around: Mapping[str, "Value"] = field(default_factory=dict)


@dataclass(frozen=True)
class Many:
    """A tuple, a list, or the modules of a container; a chain is called one after another."""

    items: tuple["Value", ...]
    is_chain: bool = False
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Empty a list that is longer, lists in it counted through, than anyone writes."""
        size = 1 + sum(item.size if isinstance(item, Many) else 1 for item in self.items)
        if size > LONGEST:
            object.__setattr__(self, "items", ())
        object.__setattr__(self, "size", size if size <= LONGEST else 1)


Value = int | Scalar | Foreign | Instance | Method | Many | ast.ClassDef


def tensors(value: Value) -> Iterator[int]:
    """Yield the tensors that *value* is or holds."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, Many):
        for item in value.items:
            yield from tensors(item)


def spread(values: Sequence[Value]) -> tuple[Value, ...]:
    """Put what several values hold, each a list or not, into one."""
    return tuple(i for v in values for i in (v.items if isinstance(v, Many) else (v,)))
