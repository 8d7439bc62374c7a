import pytest

from fusewright.measure.plan import Plan
from fusewright.measure.timing import MAX_ROUNDS, Samples, block_size, time_pair, warm_up


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
    return clock.order[4:], *pair


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
    [(19.9, 4), (20.0, 3), (1000.0, 1), (10.0, 5), (0.001, 25)],
    ids=["slow: the least", "long: the budget", "long: one", "in between: the budget", "the most"],
)
def test_a_block_is_half_of_what_fills_the_budget(coarse_ms, expected):
    plan = Plan(budget_ms=100.0, min_repetitions=8, max_repetitions=50)

    assert block_size(coarse_ms, plan) == expected


def test_spread_is_the_interquartile_range_over_the_median():
    assert Samples([[1.0, 2.0, 3.0, 4.0, 5.0]]).spread == pytest.approx(2 / 3)
    assert Samples([[2.0, 2.0, 2.0]]).spread == 0.0


@pytest.mark.parametrize(
    ("blocks", "stands"),
    [
        ([[1.0, 1.0], [1.0, 1.5]], True),
        ([[1.0, 1.05], [1.5, 1.45]], False),
        ([[1.0] * 20, [1.019] * 20], True),
        ([[1.0] * 20, [1.021] * 20], False),
    ],
    ids=["one slow call", "scattered", "blocks 1.9 % apart", "blocks 2.1 % apart"],
)
def test_a_median_stands_unless_calls_scatter_or_blocks_differ(blocks, stands):
    assert Samples(blocks).stands == stands


@pytest.mark.parametrize(
    ("call_ms", "calls"),
    [(1.0, [1, 9]), (3.0, [1, 3]), (10.0, [1, 1]), (0.01, [1, 50])],
    ids=["fast", "in between", "as long as all of it", "the most"],
)
def test_warming_up_takes_as_many_calls_as_fill_its_time(call_ms, calls):
    asked = []

    class Device:
        def time(self, _, repetitions):
            asked.append(repetitions)
            return [call_ms] * repetitions

    coarse_ms = warm_up(Device(), eager, Plan(warmup_ms=10.0, max_repetitions=50))

    assert (asked, coarse_ms) == (calls, call_ms)


def test_the_first_call_has_no_say_where_there_are_others():
    times_ms = iter([[5.0], [1.0, 1.2, 1.1]])

    class Device:
        def time(self, *_):
            return next(times_ms)

    assert warm_up(Device(), eager, Plan(warmup_ms=20.0)) == 1.1
