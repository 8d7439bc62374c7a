"""Guess what a module takes: tensors by the names of its arguments and by its first weights."""

import inspect
from collections.abc import Iterator
from typing import NamedTuple

from torch import nn

from fusewright.records import TensorSpec

_BATCH, _LENGTH, _SIDE, _HEADS, _COUNT = 2, 6, 16, 4, 2
_SMALL_SIDE = 8


class Guess(NamedTuple):
    """Arguments of a call as text, and the tensors in it."""

    call: str
    inputs: tuple[TensorSpec, ...]


def guesses(module: nn.Module, head_dim: int | None) -> Iterator[Guess]:
    """Yield calls that *module* may take, the likeliest first."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    required = [
        each.name
        for each in parameters
        if each.default is each.empty
        and each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}
    ]
    seen = set()
    for shape in _shapes(module, required[0] if required else ""):
        guess = _call(required, shape, head_dim)
        if guess not in seen:
            seen.add(guess)
            yield guess


def _call(names: list[str], shape: TensorSpec, head_dim: int | None) -> Guess:
    words: list[str] = []
    inputs: list[TensorSpec] = []
    for name in names:
        text, specs = _argument(name, shape, head_dim)
        places = range(len(inputs), len(inputs) + len(specs))
        words.append(text.format(*(f"{{{place}}}" for place in places)))
        inputs += specs
    return Guess(f"{{m}}({', '.join(words)})", tuple(inputs))


def _argument(
    name: str, shape: TensorSpec, head_dim: int | None
) -> tuple[str, tuple[TensorSpec, ...]]:
    """What stands for *name* in a call whose first tensor has *shape*."""
    if "mask" in name:
        return "None", ()
    if name == "position_embeddings" and head_dim:
        angles = TensorSpec(shape=(_BATCH, _LENGTH, head_dim), low=-1.0, high=1.0)
        return "({}, {})", (angles, angles)
    if name in {"height", "width", "patch_height", "patch_width"}:
        return str(_LENGTH // 2 if "height" in name else 2), ()
    if name.startswith("top_k") and "index" in name:
        return "{}", (_indices(_HEADS, shape.shape[0], _COUNT),)
    if name.startswith("top_k"):
        return "{}", (TensorSpec(shape=(shape.shape[0], _COUNT), low=0.1, high=0.9),)
    if name.endswith(("_ids", "_id", "codes")) and shape.dtype != "int64":
        return "{}", (_indices(_SMALL_SIDE, *shape.shape[:2]),)
    return "{}", (shape,)


def _indices(count: int, *shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, dtype="int64", low=0, high=count - 1)


def _shapes(module: nn.Module, name: str) -> Iterator[TensorSpec]:
    """Yield shapes of the first tensor, by its *name* and the widths that *module* shows."""
    if name.endswith(("_ids", "codes")):
        yield _indices(_SMALL_SIDE, _BATCH, _LENGTH)
    for width, rank in _widths(module):
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
    return list(dict.fromkeys([*found, (32, 0), (16, 0), (3, 2)]))[:6]
