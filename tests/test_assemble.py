"""What a config makes of the parts it names."""

import pytest

from fusewright import assemble
from fusewright.config import Config, JudgeSettings, MeasureSettings


def window_of_meter(window_ms, *judged_ms):
    """Window that the meter gets, from that of `measure` and that of `judge`."""
    low, high = judged_ms
    judge = JudgeSettings(min_eager_ms=low, max_eager_ms=high)
    config = Config(measure=MeasureSettings(window_ms=window_ms), judge=judge)
    return assemble.meter(config).settings.window_ms


@pytest.mark.parametrize(
    ("window_ms", "judged_ms", "expected_ms"),
    [
        ((1.0, 100.0), (1.0, 100.0), (1.0, 100.0)),
        ((1.0, 100.0), (2.0, 50.0), (1.0, 100.0)),
        ((1.0, 100.0), (0.5, 50.0), (0.5, 100.0)),
        ((1.0, 100.0), (2.0, 300.0), (1.0, 300.0)),
        ((1.0, 2.0), (5.0, 9.0), (1.0, 9.0)),
        (None, (1.0, 100.0), None),
    ],
    ids=["alike", "narrower", "from lower", "to higher", "apart", "none"],
)
def test_nothing_is_left_uncompiled_that_judge_might_keep(window_ms, judged_ms, expected_ms):
    assert window_of_meter(window_ms, *judged_ms) == expected_ms


def test_the_config_itself_keeps_the_window_it_was_given():
    config = Config(judge=JudgeSettings(min_eager_ms=0.1))
    assemble.meter(config)

    assert config.measure.window_ms == (1.0, 100.0)
