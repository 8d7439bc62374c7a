"""Signature and first lines of documentation: what a prompt says of an operator."""

import inspect
import re
from collections.abc import Callable
from typing import Any

LIMIT = 600
"""Longest snippet, characters."""


def snippet(name: str, target: Callable[..., Any]) -> str:
    """Signature of *target*, called *name*, and its documentation up to `LIMIT` characters."""
    text = _plain(inspect.getdoc(target) or "")
    bare = name.rpartition(".")[2]
    # Documentation of C functions opens with the signature, which `inspect` cannot give.
    if not text.startswith(f"{bare}("):
        text = f"{bare}{_signature(target)}\n\n{text}"
    return cut(text.strip())


def _signature(target: Callable[..., Any]) -> str:
    try:
        signature = inspect.signature(target)
    except ValueError:
        return "(...)"
    # Annotations of torch fill the snippet, and a default function would print its address.
    empty = inspect.Parameter.empty
    bare = [each.replace(annotation=empty) for each in signature.parameters.values()]
    text = str(signature.replace(parameters=bare, return_annotation=empty))
    return re.sub(r"<function (\w+) at \w+>", r"\1", text)


def _plain(text: str) -> str:
    """*text* without the roles and links of reStructuredText."""
    text = re.sub(r":\w+:`~?([^`<]+?)(?: <[^`]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<]+?)\s*<[^`>]*>`_+", r"\1", text)
    return re.sub(r"\n\s*\n\s*", "\n\n", text).strip()


def cut(text: str) -> str:
    """*text*, or as many of its first words as `LIMIT` allows."""
    if len(text) <= LIMIT:
        return text
    head = text[: LIMIT - 4]
    return f"{head[: max(head.rfind(' '), head.rfind(chr(10)))].rstrip()} ..."
