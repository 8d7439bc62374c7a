"""What a device reaches, and which sizes suit it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fusewright.operators.catalogue.lane import FLOAT32, Lane


@dataclass(frozen=True)
class Preset:
    """What a device reaches, and the sizes that suit it."""

    bytes_per_s: float
    """Bandwidth that an elementwise kernel reaches."""
    flops_per_s: Mapping[str, float]
    """Peaks that products, convolutions and attention reach."""
    launch_s: float
    window_s: tuple[float, float]
    """Eager times to aim for."""
    floor_s: float
    """Least estimated time worth publishing."""
    input_elements: int
    """Most elements of all inputs together."""
    tensor_elements: int
    """Most elements of any tensor."""
    sizes: Mapping[str, tuple[int, ...]]
    """Sizes to draw from, by role."""
    lane: Lane = FLOAT32
    """Data type of inputs and parameters."""
    half_speed: float = 1.0
    """How much faster products are in half the bytes."""

    def in_lane(self, lane: Lane) -> "Preset":
        """The same device, for problems that compute in *lane*."""
        faster = self.half_speed if lane.item_bytes < FLOAT32.item_bytes else 1.0
        flops_per_s = {unit: faster * flops for unit, flops in self.flops_per_s.items()}
        return replace(self, lane=lane, flops_per_s=flops_per_s)


PRESETS: dict[str, Preset] = {
    # An H200: 85 % of its bandwidth, and what TF32 matrix units reach on usual shapes.
    "cuda": Preset(
        bytes_per_s=3.4e12,
        flops_per_s={"matmul": 250e12, "conv": 200e12, "attention": 60e12},
        launch_s=5e-6,
        half_speed=2.0,
        window_s=(1.5e-3, 30e-3),
        floor_s=1.3e-3,
        input_elements=2**28,
        tensor_elements=2**30,
        sizes={
            "features": (512, 1024, 1024, 2048, 2048, 4096, 768, 1536, 3072),
            "dims": (256, 512, 512, 1024, 384, 768),
            "seq_len": (128, 256, 512, 1024, 192, 384),
            "context_len": (128, 256, 512, 77, 192, 384),
            "channels": (16, 32, 64, 128, 24, 48, 96),
            "height": (32, 64, 64, 128, 56, 112),
            "depth": (8, 16, 16, 32, 12, 24),
            "length": (512, 1024, 2048, 4096, 768, 1536),
            "num_heads": (8, 16, 12),
            "head_dims": (32, 64, 128, 80),
        },
    ),
    # One core: bandwidth of a copy, and a vectorized matrix product.
    "cpu": Preset(
        bytes_per_s=12e9,
        flops_per_s={"matmul": 40e9, "conv": 25e9, "attention": 20e9},
        launch_s=8e-6,
        window_s=(1e-3, 20e-3),
        floor_s=0.8e-3,
        input_elements=2**24,
        tensor_elements=2**25,
        sizes={
            "features": (128, 256, 512, 1024, 192, 384),
            "dims": (64, 128, 256, 96, 192),
            "seq_len": (32, 64, 128, 48, 96),
            "context_len": (32, 64, 128, 77),
            "channels": (8, 16, 32, 64, 24, 48),
            "height": (16, 32, 64, 28, 56),
            "depth": (8, 16, 8, 12),
            "length": (128, 256, 512, 192, 384),
            "num_heads": (4, 8, 6),
            "head_dims": (16, 32, 64, 48),
        },
    ),
}  # fmt: skip
"""Presets by device."""

TINY = Preset(
    bytes_per_s=1e9,
    flops_per_s={"matmul": 1e10, "conv": 1e10, "attention": 1e10},
    launch_s=1e-6,
    window_s=(1e-5, 1e-3),
    floor_s=0.0,
    input_elements=2**15,
    tensor_elements=2**17,
    sizes={
        "features": (32, 64, 48), "dims": (16, 32, 48), "seq_len": (16, 24, 32),
        "context_len": (16, 20), "channels": (8, 16, 32, 24), "height": (8, 16, 12),
        "depth": (4, 8, 16), "length": (32, 64, 48), "num_heads": (2, 4), "head_dims": (16, 32),
    },
)  # fmt: skip
"""Sizes of which a processor runs hundreds of problems a second: to see that they run at all."""
