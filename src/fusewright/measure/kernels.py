"""Kernels of PyTorch that take long when they are called for the first time in a process.

CUDA loads a kernel with its module at the first launch (some 15 ms on an H200), cuDNN its libraries
of engines (up to 0.5 s), and PyTorch compiles some kernels only then (0.1 s to 12 s; its sources
call this `jiterator`). A candidate that comes first to one would do all that under the lease.
"""

import contextlib
import operator
from collections.abc import Iterator

import torch
from torch.nn import functional

COMPILED = (
    "exp2 sinc lgamma digamma erfinv special.log_ndtr special.ndtri special.entr special.i0 "
    "special.i0e special.i1 special.i1e special.bessel_j0 special.bessel_j1 "
    "special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0 "
    "special.modified_bessel_k1 special.erfcx"
)
"""Functions in `torch` of one tensor that are compiled when called; the slowest one last."""
UNARY = (
    "abs asinh atan cos erf exp expm1 isfinite log reciprocal relu rsqrt sigmoid sin sqrt square "
    "tanh amax amin logsumexp max mean median min sort std sum var"
)
BINARY = "add div eq hypot isclose logaddexp maximum minimum mul pow sub"
ALONG = "cummax cummin cumsum log_softmax logcumsumexp softmax"
ACTIVATIONS = (
    "celu elu gelu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu "
    "softplus softshrink softsign tanhshrink"
)
CHANNELS = 32


def compile_kernels(device: torch.device) -> None:
    """Compile what is compiled at its first call; PyTorch keeps it on disk."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        values = torch.rand(64, device=device).to(dtype)
        for name in COMPILED.split():
            # Some know no half precision.
            with contextlib.suppress(RuntimeError):
                operator.attrgetter(name)(torch)(values)


def load_kernels(device: torch.device) -> None:
    """Launch on a few elements what many problems launch."""
    x = torch.rand(2, CHANNELS, 16, 16, device=device) + 0.5
    for name in UNARY.split():
        getattr(torch, name)(x, *((-1,) if name == "logsumexp" else ()))
    for name in BINARY.split():
        getattr(torch, name)(x, x)
    for name in ALONG.split():
        getattr(torch, name)(x, -1)
    for name in ACTIVATIONS.split():
        getattr(functional, name)(x)
    torch.where(x > 1, x.lerp(x, 0.5), x.addcmul(x, x)).clamp(0.6, 1).flip(-1).roll(1, 0)
    torch.cat([x.double().float(), x.clone().triu()]).topk(3)
    _normalise(x)
    _pool(x)
    _multiply(x)
    _convolve(device)


def _normalise(x: torch.Tensor) -> None:
    functional.layer_norm(x, x.shape[-1:])
    functional.rms_norm(x, x.shape[-1:])
    functional.group_norm(x, 4)
    functional.instance_norm(x)
    functional.batch_norm(x, x.new_zeros(CHANNELS), x.new_ones(CHANNELS))
    functional.normalize(x)
    functional.cosine_similarity(x, x)


def _pool(x: torch.Tensor) -> None:
    functional.max_pool2d(x, 2)
    functional.avg_pool2d(x, 2)
    functional.adaptive_avg_pool2d(x, 4)
    functional.interpolate(x, scale_factor=2)
    functional.interpolate(x, scale_factor=2, mode="bilinear")


def _multiply(x: torch.Tensor) -> None:
    functional.scaled_dot_product_attention(x, x, x)
    torch.cdist(x, x)
    torch.bmm(x.flatten(0, 1), x.flatten(0, 1))
    matrix = torch.rand(256, 256, device=x.device)
    functional.linear(matrix, matrix, matrix[0])


def _convolve(device: torch.device) -> None:
    """Convolve in one to three dimensions, forth and back, in both layouts of memory."""
    for dims, images in _images(device):
        shape = (2 * CHANNELS, CHANNELS)
        kernel = torch.rand(*shape, *(3,) * dims, device=device)
        point = torch.rand(*shape, *(1,) * dims, device=device)
        forth = getattr(functional, f"conv{dims}d")
        back = getattr(functional, f"conv_transpose{dims}d")
        forth(images, kernel, padding=1)
        forth(images, point)
        back(images, kernel.transpose(0, 1).contiguous())


def _images(device: torch.device) -> Iterator[tuple[int, torch.Tensor]]:
    """Numbers of dimensions, with images of so many."""
    layouts = {2: torch.channels_last, 3: torch.channels_last_3d}
    for dims in (1, 2, 3):
        images = torch.rand(4, CHANNELS, *(24,) * dims, device=device)
        yield dims, images
        if dims in layouts:
            yield dims, images.to(memory_format=layouts[dims])
