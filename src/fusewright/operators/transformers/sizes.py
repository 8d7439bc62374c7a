"""Constructor arguments of a small sample: the same for the same role, whatever the model."""

import re
from collections.abc import Mapping
from typing import Any

_ROLES: tuple[tuple[str, Any], ...] = (
    (r"(layer|stage|block|level|config|depth)_?(idx|index|id)$|^(index|idx|i)$|cache_key", 0),
    (r"dropout|drop(_|$)|pdrop|drop_path|p_drop|dropath", 0.0),
    (r"eps(ilon)?$", 1e-6),
    (r"(key_value|kv)_heads?$|kv_heads", 2),
    (r"heads?$|^n_?head", 4),
    (r"(vocab|codebook)_size|num_embeddings|num_positions", 64),
    (r"max_position|position_embeddings|max_.*len", 64),
    (r"top_?k|experts_per_tok", 2),
    (r"(^|_)(n_routed_)?experts?$|num_local_experts", 4),
    (r"n?_?group(s)?$|topk_group", 2),
    (r"head_dim|head_size|d_kv|key_value_dim|kv_channels", 8),
    (r"rank", 8),
    (r"intermediate|ffn|d_ff|dim_ff|mlp_dim|inner|feed_?forward|expand_dim", 64),
    (r"patch", 4),
    (r"image_size|input_resolution|img_size", 16),
    (r"window", 4),
    (r"kernel|stride|dilation|padding|ratio|factor|merge|scale|shift|groups", None),
    (r"layers|depth|blocks|labels|classes|steps|stages|levels", 2),
    (r"padding_idx|token_id", 0),
    (r"hidden|dim|size|width|channel|d_model|embd|embed|features|units|filters|bins", 32),
)
"""What an argument's name tells of its role, first match first; None leaves it as it is."""

_REQUIRED: tuple[tuple[str, Any], ...] = (
    (r"bias|^is_|^use_|affine", True),
    (r"kernel", 3),
    (r"stride|dilation|groups?$", 1),
    (r"padding", 1),
    (r"mlp_ratio|expan|factor|scale|ratio", 2),
    (r"normalized_shape", 32),
    (r"theta|base", 10000.0),
)
"""The same for arguments that no configuration tells."""

LARGE = 16
"""An unexplained size up to this is left as it is."""


def small(name: str, value: Any) -> Any:
    """What the argument *name* is in a sample, *value* being what it is in a model."""
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return type(value)(small(name, each) for each in value)
    known, role = _role(name, _ROLES)
    if isinstance(value, float):
        return role if known and isinstance(role, float) else value
    if known and isinstance(role, int):
        return min(role, value) if value > 0 else value
    return min(value, LARGE)


def shrunk(value: Any, factor: int) -> Any:
    """*value* with each large whole number in it divided by *factor*, ratios kept."""
    if isinstance(value, list | tuple):
        return type(value)(shrunk(each, factor) for each in value)
    if type(value) is int and value > LARGE:
        return max(value // factor, 1)
    return value


def required(name: str) -> Any:
    """A value for the constructor's argument *name*, which has no default.

    Raises:
        LookupError: Nothing is known of such a name.
    """
    for roles in (_REQUIRED, _ROLES):
        known, value = _role(name, roles)
        if known and value is not None:
            return value
    raise LookupError(f"no value is known for an argument '{name}'")


def _role(name: str, roles: tuple[tuple[str, Any], ...]) -> tuple[bool, Any]:
    found = [value for pattern, value in roles if re.search(pattern, name)]
    return bool(found), found[0] if found else None
