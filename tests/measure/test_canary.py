import math

from fusewright.measure.canary import sing
from fusewright.measure.device import Cpu


def test_a_canary_times_a_product_and_a_copy():
    canary = sing(Cpu())

    assert set(canary) == {"matmul_ms", "copy_ms"}
    assert all(math.isfinite(ms) and ms > 0 for ms in canary.values())
