import pytest
import torch
from torch import nn

from fusewright.dispatch import size_bytes
from fusewright.roofline import Cost, Peaks, count

PEAKS = Peaks(bytes_per_s=1e9, flops_per_s=1e12)


def counted(call, inputs, parameters=()):
    with torch.no_grad():
        return count(call, inputs, list(parameters))[1]


@pytest.mark.parametrize(
    ("cost", "sol_ms", "bound"),
    [
        (Cost(flops=0, io_bytes=10**6, kernels=1, live_bytes=0), 1.0, "memory"),
        (Cost(flops=10**10, io_bytes=10**6, kernels=1, live_bytes=0), 10.0, "compute"),
        (Cost(flops=0, io_bytes=10**3, kernels=1, live_bytes=0), 0.001, "launch"),
        (Cost(flops=0, io_bytes=10**6, kernels=201, live_bytes=0), 1.0, "launch"),
    ],
)
def test_speed_of_light_is_the_slower_of_bytes_and_flops(cost, sol_ms, bound):
    assert cost.sol_ms(PEAKS) == pytest.approx(sol_ms)
    assert cost.bound(PEAKS) == bound


def test_a_chain_moves_its_ends_once_however_long_it_is():
    x = torch.randn(64, 32)
    short = counted(x.sin, [x])
    long = counted(lambda: x.sin().cos().tanh().exp(), [x])

    assert short.io_bytes == long.io_bytes == 2 * x.nbytes
    assert (short.kernels, long.kernels) == (1, 4)


def test_flops_are_those_of_products_convolutions_and_attention():
    linear, conv = nn.Linear(32, 8), nn.Conv2d(4, 8, 3, padding=1)
    x, image, q = torch.randn(16, 32), torch.randn(2, 4, 10, 10), torch.randn(2, 4, 64, 32)
    attention = nn.functional.scaled_dot_product_attention

    assert counted(lambda: linear(x), [x], linear.parameters()).flops == 2 * 16 * 32 * 8
    assert counted(lambda: conv(image), [image]).flops == 2 * 2 * 8 * 100 * 4 * 9
    assert counted(lambda: attention(q, q, q), [q]).flops == 4 * 2 * 4 * 64 * 64 * 32
    assert counted(x.sin, [x]).flops == 0


def test_views_are_no_kernels_and_move_nothing():
    x = torch.randn(4, 8)

    assert counted(lambda: x.t().reshape(8, 4)[1:].unsqueeze(0), [x]).kernels == 0


def test_memory_alive_is_what_was_not_freed_yet():
    x = torch.randn(256, 256)

    def chain():
        y = x
        for _ in range(6):
            y = y.sin()
        return y

    assert counted(chain, [x]).live_bytes == 3 * x.nbytes
    assert counted(lambda: [x.sin() for _ in range(6)], [x]).live_bytes == 7 * x.nbytes


def test_an_expanded_dimension_is_counted_once():
    assert size_bytes(torch.ones(8, 1).expand(8, 100)) == 8 * 4
