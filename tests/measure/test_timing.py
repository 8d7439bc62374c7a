import pytest

from fusewright.measure.plan import Plan
from fusewright.measure.timing import MAX_ROUNDS, Samples, block_size, time_pair


class Clock:
    """A device whose calls take what a script says, and which notes the order of the blocks."""

    def __init__(self, script):
        self._script = script
        self.order = []

    def synchronize(self):
        pass

    def time(self, call, repetitions):
        self.order.append(call.__name__)
        return [self._script(call.__name__, len(self.order)) for _ in range(repetitions)]


def eager():
    pass


def compiled():
    pass


def measure(script, **plan):
    clock = Clock(script)
    settings = {"warmup_ms": 0.001, "budget_ms": 10.0, "min_repetitions": 8, **plan}
    pair = time_pair(clock, eager, compiled, Plan(**settings))
    return clock.order[2:], *pair


def test_blocks_go_eager_compiled_compiled_eager():
    order, first, second = measure(lambda name, _: 2.0 if name == "eager" else 1.0)

    assert order == ["eager", "compiled", "compiled", "eager"]
    assert (first.median_ms, second.median_ms) == (2.0, 1.0)


def test_blocks_that_disagree_are_timed_again_up_to_three_rounds():
    order, _, _ = measure(lambda _, block: float(block))

    assert len(order) == 4 * MAX_ROUNDS


def test_blocks_that_agree_are_not_timed_again():
    order, first, _ = measure(lambda _, block: 1.0 + 0.001 * (block % 2))

    assert len(order) == 4
    assert first.stands


@pytest.mark.parametrize(
    ("coarse_ms", "expected"),
    [(1000.0, 4), (10.0, 5), (0.001, 25)],
    ids=["slow: the least", "in between: the budget", "fast: the most"],
)
def test_a_block_is_half_of_what_fills_the_budget(coarse_ms, expected):
    plan = Plan(budget_ms=100.0, min_repetitions=8, max_repetitions=50)

    assert block_size(coarse_ms, plan) == expected


def test_spread_is_the_interquartile_range_over_the_median():
    assert Samples([[1.0, 2.0, 3.0, 4.0, 5.0]]).spread == pytest.approx(1.0)
    assert Samples([[2.0, 2.0, 2.0]]).spread == 0.0
