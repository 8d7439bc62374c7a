"""Guess what a module takes: tensors by the names of its arguments and by its first weights."""

import inspect
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from torch import nn

from fusewright.records import TensorSpec

_BATCH, _LENGTH, _HIGH, _SIDE, _HEADS, _COUNT = 2, 6, 3, 16, 4, 2
_SMALL_SIDE = 8
_MOST_WIDTHS = 4
_MOST_GUESSES = 60


class Guess(NamedTuple):
    """Arguments of a call as text, and the tensors in it."""

    call: str
    inputs: tuple[TensorSpec, ...]


def guesses(module: nn.Module, head_dim: int | None) -> Iterator[Guess]:
    """Yield calls that *module* may take, the likeliest first."""
    yield from itertools.islice(_all(module, head_dim), _MOST_GUESSES)


def _all(module: nn.Module, head_dim: int | None) -> Iterator[Guess]:
    required = _required(module)
    widths = _widths(module)
    seen = set()
    for shape in _shapes(widths, required[0] if required else ""):
        # A second tensor is as the first, or as wide as something else in the module.
        others = [shape.shape[-1], *_ends(module)] if len(required) > 1 else [shape.shape[-1]]
        for other in dict.fromkeys(others):
            guess = _call(required, shape, other, head_dim)
            if guess not in seen:
                seen.add(guess)
                yield guess


def _required(module: nn.Module) -> list[str]:
    """Arguments of the forward that have no default, rotary embeddings whatever they have."""
    return [
        each.name if each.default is each.empty else f"{each.name}="
        for each in inspect.signature(module.forward).parameters.values()
        if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}
        and (each.default is each.empty or each.name == "position_embeddings")
    ]


def _call(names: list[str], shape: TensorSpec, width: int, head_dim: int | None) -> Guess:
    words: list[str] = []
    inputs: list[TensorSpec] = []
    for place, name in enumerate(names):
        like = shape if place == 0 else _as_wide(shape, width)
        text, specs = _argument(name.removesuffix("="), like, head_dim)
        text = f"{name}{text}" if name.endswith("=") else text
        numbers = range(len(inputs), len(inputs) + len(specs))
        words.append(text.format(*(f"{{{number}}}" for number in numbers)))
        inputs += specs
    return Guess(f"{{m}}({', '.join(words)})", tuple(inputs))


def _as_wide(spec: TensorSpec, width: int) -> TensorSpec:
    return spec.model_copy(update={"shape": (*spec.shape[:-1], width)})


def _ends(module: nn.Module) -> list[int]:
    """Widths that come out of the layers of *module*."""
    linear = [each.out_features for each in module.modules() if isinstance(each, nn.Linear)]
    normal = [e.normalized_shape[-1] for e in module.modules() if isinstance(e, nn.LayerNorm)]
    return [*linear, *normal][:_MOST_WIDTHS]


def _argument(
    name: str, like: TensorSpec, head_dim: int | None
) -> tuple[str, tuple[TensorSpec, ...]]:
    """What stands for *name* in a call, *like* being a tensor that would be plain."""
    if "mask" in name:
        return "None", ()
    if name == "position_embeddings" and head_dim:
        angles = TensorSpec(shape=(_BATCH, _LENGTH, head_dim), low=-1.0, high=1.0)
        return "({}, {})", (angles, angles)
    if name.endswith(("height", "width")):
        return str(_HIGH if name.endswith("height") else _LENGTH // _HIGH), ()
    return "{}", (_tensor(name, like),)


def _tensor(name: str, like: TensorSpec) -> TensorSpec:
    rows = like.shape[0]
    if name.startswith("top_k"):
        is_index = "ind" in name
        chosen = TensorSpec(shape=(rows, _COUNT), low=0.1, high=0.9)
        return _indices(_HEADS, rows, _COUNT) if is_index else chosen
    if name.endswith(("_ids", "_id", "codes")) and like.dtype != "int64":
        return _indices(_SMALL_SIDE, *like.shape[:2])
    return like


def _indices(count: int, *shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, dtype="int64", low=0, high=count - 1)


def _shapes(widths: list[tuple[int, int]], name: str) -> Iterator[TensorSpec]:
    """Yield shapes of the first tensor, by its *name* and the *widths* that its module shows."""
    if name.endswith(("_ids", "codes")):
        yield _indices(_SMALL_SIDE, _BATCH, _LENGTH)
    for width, rank in widths:
        shapes = {
            0: (_BATCH, _LENGTH, width),
            1: (_BATCH, width, _SIDE),
            2: (_BATCH, width, _SIDE, _SIDE),
            3: (_BATCH, width, _HEADS, _SIDE, _SIDE),
        }
        yield TensorSpec(shape=shapes[rank])
        for shape in (
            (_BATCH, _LENGTH, width),
            (_BATCH, width, _SMALL_SIDE, _SMALL_SIDE),
            (_BATCH, _SMALL_SIDE, _SMALL_SIDE, width),
            (_BATCH * _LENGTH, width),
            (_BATCH, width, _SIDE),
            (_BATCH, _HEADS, _LENGTH, width),
            (_BATCH, _HEADS, width, _SIDE, _SIDE),
        ):
            yield TensorSpec(shape=shape)
    yield _indices(_SMALL_SIDE, _BATCH, _LENGTH)


def _widths(module: nn.Module) -> list[tuple[int, int]]:
    """Widths that the first tensor may have, with the rank of the convolution that shows it."""
    found: list[tuple[int, int]] = []
    for each in module.modules():
        if isinstance(each, nn.modules.conv._ConvNd):  # noqa: SLF001 -- what all of them are
            found.append((each.in_channels, len(each.kernel_size)))
        elif isinstance(each, nn.Linear):
            found.append((each.in_features, 0))
        elif isinstance(each, nn.LayerNorm):
            found.append((each.normalized_shape[-1], 0))
        elif isinstance(each, nn.modules.batchnorm._BatchNorm):  # noqa: SLF001 -- as above
            found.append((each.num_features, 2))
    own = [size for parameter in module.parameters(recurse=False) for size in parameter.shape]
    found += [(size, 0) for size in reversed(own) if size > 1]
    return list(dict.fromkeys([*found[:_MOST_WIDTHS], (32, 0), (3, 2)]))
