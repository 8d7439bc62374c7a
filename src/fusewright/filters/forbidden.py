"""Names that no problem needs: what reaches out of the computation, or changes how it is measured.

Imports and paths below `torch` are allowed by list; the rest are tables of what is not. The lists
keep honest problems clean and make rejections readable. They are no sandbox: problems run in
processes that are one (SECURITY.md).
"""

import sys
from collections.abc import Container

from fusewright.identity.program import words

IMPORTS = (
    "__future__",
    "math",
    "typing",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.modules",
    "torch.nn.parameter",
    "torch.nn.utils",
    "torch.fft",
    "torch.functional",
    "torch.linalg",
    "torch.sparse",
    "torch.special",
)
"""Modules that a problem may import from, by default."""

BUILTINS = words(
    "open exec eval compile __import__ input breakpoint globals locals vars exit quit help "
    "memoryview"
)
"""Built-in functions that no problem may name; a local variable of the name is another thing."""

REFLECTION = words("getattr setattr delattr hasattr")
"""Built-in functions that are allowed where the attribute's name is written out."""

METHODS = words(
    "data_ptr const_data_ptr numpy share_memory_ storage untyped_storage manual_seed tofile dump "
    "apply_ map_ map2_ record_stream pin_memory register_hook register_forward_hook "
    "register_forward_pre_hook register_full_backward_hook register_load_state_dict_post_hook "
    "load_state_dict compile share_memory f_globals f_locals f_builtins f_back f_code gi_frame "
    "gi_code cr_frame cr_code ag_frame ag_code tb_frame tb_next func_globals co_code mro"
)
"""Attributes of any object: ways to memory, files, hooks, frames and random state."""

_MODULES = words(
    "accelerator amp ao autograd backends classes compiler cpp cpu cuda distributed distributions "
    "export func futures fx hub jit library masked monitor mps mtia multiprocessing nested ops "
    "optim overrides package profiler quantization quasirandom random return_types serialization "
    "signal storage testing torch torch_version types utils version xpu"
)
_FUNCTIONS = words(
    "compile load save from_file from_dlpack to_dlpack from_numpy frombuffer manual_seed seed "
    "initial_seed get_rng_state fork wait import_ir_module import_ir_module_from_buffer "
    "prepare_multiprocessing_environment use_deterministic_algorithms Generator set_grad_enabled "
    "get_device_module get_file_path UntypedStorage TypedStorage"
)
"""Of `torch`: what reads files, moves memory, sets the global state or runs code."""

_NN_MODULES = words("attention common_types grad intrinsic parallel qat quantizable quantized")
_ALLOWED = frozenset(
    {"torch.cuda.is_available", "torch.cuda.device_count", "torch.nn.Module.__init__"}
)
_FOREIGN = (sys.stdlib_module_names | {"np", "numpy", "torch"}) - {"chunk", "select", "trace"}
"""Modules that the modules allowed have imported themselves, less three names of what computes."""


def is_forbidden(path: str, imports: Container[str] = IMPORTS) -> bool:
    """Tell whether a problem may not use what stands at *path*, given the modules it may import."""
    parts = path.split(".")
    ends = [end for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in imports]
    if not ends or path in _ALLOWED:
        return False
    module, rest = ".".join(parts[: ends[0]]), parts[ends[0] :]
    first = rest[0] if rest else ""
    if module == "torch" and (first in _MODULES | _FUNCTIONS or first.startswith("set_")):
        return True
    if module == "torch.nn" and first in _NN_MODULES:
        return True
    return any(part.startswith("_") or part in _FOREIGN for part in rest)
