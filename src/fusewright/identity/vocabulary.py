"""How operators are called: the project's names for paths, methods and infix operators.

Plain tables, so that reading a text needs no PyTorch; a test holds them against the installed one.
"""

import ast

from fusewright.identity.program import words

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "torch.add",
    ast.Sub: "torch.sub",
    ast.Mult: "torch.mul",
    ast.Div: "torch.div",
    ast.FloorDiv: "torch.floor_divide",
    ast.Mod: "torch.remainder",
    ast.Pow: "torch.pow",
    ast.MatMult: "torch.matmul",
    ast.BitAnd: "torch.logical_and",
    ast.BitOr: "torch.logical_or",
    ast.BitXor: "torch.logical_xor",
}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "torch.neg",
    ast.Invert: "torch.logical_not",
}
COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Lt: "torch.lt",
    ast.LtE: "torch.le",
    ast.Gt: "torch.gt",
    ast.GtE: "torch.ge",
    ast.Eq: "torch.eq",
    ast.NotEq: "torch.ne",
}
BUILTIN = {"abs": "torch.abs", "pow": "torch.pow", "sum": "torch.add", "round": "torch.round"}

CONTAINERS = words(
    "Module Sequential ModuleList ModuleDict Parameter ParameterList ParameterDict Buffer "
    "UninitializedParameter UninitializedBuffer"
)
"""Names of `torch.nn` that hold modules or numbers and compute nothing."""

_TENSOR_ONLY = words(
    "as_subclass bfloat16 bool byte cdouble cfloat chalf char coalesce contiguous copy cpu cuda "
    "double expand expand_as fill_diagonal float half index int ipu long masked_copy mtia new "
    "new_empty new_empty_strided new_full new_ones new_tensor new_zeros pin_memory reinforce "
    "repeat reshape_as resize resize_as short sparse_mask sum_to_size to to_dense to_mkldnn "
    "to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc "
    "to_sparse_csr type type_as unfold view view_as xpu"
)
"""Tensor methods, less a trailing underscore, that no function of `torch` is called after."""

QUERIES = words(
    "size dim numel nelement ndimension item tolist stride storage_offset element_size get_device "
    "dense_dim sparse_dim dim_order requires_grad retain_grad backward numpy indices col_indices "
    "row_indices ccol_indices crow_indices qscheme module_load record_stream data_ptr "
    "const_data_ptr storage storage_type untyped_storage register_hook "
    "register_post_accumulate_grad_hook is_contiguous is_floating_point is_complex is_pinned "
    "is_shared is_coalesced is_set_to"
)
"""Tensor methods that tell of a tensor and compute none."""

_OF_OTHERS = words(
    "append extend insert pop popitem update setdefault keys items values get startswith endswith "
    "format join strip lower upper parameters named_parameters buffers modules children "
    "named_modules named_children train eval add_module register_buffer register_parameter"
)
"""Methods of lists, dictionaries, strings and modules."""

_NOT_OPERATORS = words(
    "no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled is_tensor is_complex "
    "is_floating_point finfo iinfo device dtype layout memory_format numel tensor as_tensor "
    "from_numpy zeros ones full eye empty arange range linspace logspace rand randn randint "
    "randperm normal tril_indices triu_indices bartlett_window blackman_window hamming_window "
    "hann_window kaiser_window manual_seed promote_types result_type broadcast_shapes "
    "get_default_dtype contiguous_format channels_last channels_last_3d preserve_format strided "
    "inf nan pi e newaxis "
    "float float16 float32 float64 bfloat16 half double int int8 int16 int32 int64 uint8 short "
    "long bool complex64 complex128 cfloat cdouble autocast compile jit cuda"
)
"""Names of `torch` that take no tensor, or compute none."""


def spelled(path: str) -> str | None:
    """Return the project's name of the operator at *path*, None where there is no operator."""
    parts = path.split(".")
    last = parts[-1].rstrip("_")
    match parts:
        case ["torch", "nn", "functional", _]:
            return f"F.{last}"
        case ["torch", "nn", *_]:
            return f"nn.{last}" if last[:1].isupper() and last not in CONTAINERS else None
        case ["torch", "linalg" | "special" | "fft" as module, _]:
            return f"torch.{module}.{last}"
        case ["torch", "Tensor", _]:
            return method_operator(last)
        case ["torch", _] | ["torch", "functional", _]:
            is_operator = last[:1].islower() and last not in _NOT_OPERATORS
            return f"torch.{last}" if is_operator else None
    return None


def method_operator(method: str) -> str | None:
    """Return the name of the operator that the tensor method called *method* is."""
    name = method.rstrip("_")
    if method.startswith("_") or name in QUERIES or name in _OF_OTHERS:
        return None
    return f"torch.Tensor.{name}" if name in _TENSOR_ONLY else f"torch.{name}"
