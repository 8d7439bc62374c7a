"""The one sentence that says what a generated layer does."""

from fusewright.compose.plan import Graph

LONGEST = 76
"""Most characters of a sentence, so that its line is no longer than 88."""

_TELLING = frozenset(
    [
        "gate",
        "residual",
        "context",
        "target",
        "other",
        "extra",
        "query",
        "key",
        "value",
        "scores",
        "weights",
        "mean",
        "total",
        "peak",
        "floor",
        "energy",
        "spread",
        "length",
        "similarity",
        "distance",
        "distances",
        "error",
    ]
)
"""Names of tensors that mean something to a reader of the sentence."""


def sentence(graph: Graph, names: dict[int, str]) -> str:
    """Say what *graph* does; *names* are those of the tensors."""
    phrases = [_phrase(graph, index, names) for index in range(len(graph.nodes))]
    while len(_joined(phrases)) > LONGEST and len(phrases) > 1:
        phrases.pop(len(phrases) // 2 if len(phrases) > 2 else 0)  # noqa: PLR2004
    return _joined(phrases)


def _phrase(graph: Graph, index: int, names: dict[int, str]) -> str:
    node = graph.nodes[index]
    if "{1}" not in node.rule.verb:
        return node.rule.verb
    # Nobody needs to be told of the tensor that the layer is just working on.
    other = node.operands[1] if node.operands[0] == index - 1 else node.operands[0]
    if node.operands[0] != index - 1 and node.operands[1] != index - 1:
        other = node.operands[1]
    return node.rule.verb.format("", f"the {_called(names[other], other)}")


def _called(name: str, reference: int) -> str:
    plain = name.rstrip("0123456789")
    if reference < 0 and plain in ("x", "y", "z"):
        return ("input", "second input", "third input")[-1 - reference]
    return plain.replace("_", " ") if plain in _TELLING else "other branch"


def _joined(phrases: list[str]) -> str:
    head, last = ", ".join(phrases[:-1]), phrases[-1]
    text = f"{head} and {last}" if head else last
    return f"{text[0].upper()}{text[1:]}."
