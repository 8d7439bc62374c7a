"""A run's ledger, aggregated to what one page shows; reads shards and never writes one.

Counts are the ledger's own, so the page cannot disagree with it. Rows that are drawn one by one are
capped by key, which is a hash: the first 3,000 are a fair sample, and the same one every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from fusewright.ledger import VERDICT_SCHEMA, Ledger
from fusewright.records import Measurement, Record, Screening
from fusewright.schema import schema_of

STAGES: dict[str, tuple[str, str]] = {
    "mine": ("operators", "Operators are found and tested"),
    "compose": ("draws", "A draw of operators becomes a candidate"),
    "screen": ("candidates", "What the text alone can tell"),
    "measure": ("candidates", "Eager and compiled, on the device"),
    "judge": ("candidates", "Thresholds on what was measured"),
    "select": ("candidates", "The survivors that are published"),
}
"""What a stage takes in, and what it does, in the order in which stages run."""

MAX_POINTS = 3000
BINS_PER_OCTAVE = 4
SIMILARITY_BIN = 0.05


@dataclass(frozen=True)
class Stage:
    """What became of the inputs of one stage."""

    name: str
    kept: int
    rejected: int
    waiting: int
    """Records that the stage before has kept and this one has not decided yet."""

    @property
    def inputs(self) -> int:
        """Number of inputs that have a verdict."""
        return self.kept + self.rejected


@dataclass(frozen=True)
class Reason:
    """How many inputs of one stage went for one reason."""

    stage: str
    slug: str
    count: int


@dataclass(frozen=True)
class Headline:
    """The figures that a reader wants first; None where nothing tells them yet."""

    operators: int
    draws: int
    candidates: int
    survivors: int
    selected: int
    survival: float | None
    """Share of candidates that pass screen, measure and judge; an estimate while any waits."""
    devices: tuple[str, ...]
    torch: tuple[str, ...]
    eager_ms: float | None
    """Median over the survivors of the median eager time of each, milliseconds."""
    speedup: float | None
    """Median over the survivors of eager over compiled time, a ratio."""


class Run:
    """Everything the page shows of one run, each part read once and when it is asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self.frames = {name: ledger.frame(name) for name in STAGES}

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """One entry a stage, whether it ran or not."""
        found, before = [], 0
        for name, frame in self.frames.items():
            kept = frame.filter(pl.col("verdict") == "kept").height
            # Draws are made from operators and not of them: compose does not wait for mine.
            waiting = 0 if name in ("mine", "compose") else max(0, before - frame.height)
            found.append(Stage(name, kept, frame.height - kept, waiting))
            before = kept
        return tuple(found)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Counts by stage and reason, in the order of stages and then the most frequent first."""
        return tuple(
            Reason(stage, slug, count)
            for stage, frame in self.frames.items()
            for slug, count in _rejected(frame)
            .group_by("reason")
            .len()
            .sort(["len", "reason"], descending=[True, False])
            .iter_rows()
        )

    @cached_property
    def headline(self) -> Headline:
        """The figures at the top of the page."""
        stage = {each.name: each for each in self.stages}
        survivors = self.timings.filter(pl.col("fate") == "kept")
        measured = self._kept("measure", Measurement)
        return Headline(
            operators=stage["mine"].kept,
            draws=stage["compose"].inputs,
            candidates=stage["compose"].kept,
            survivors=stage["judge"].kept,
            selected=stage["select"].kept,
            survival=_survival([stage[name] for name in ("screen", "measure", "judge")]),
            devices=tuple(sorted(measured["device"].unique())),
            torch=tuple(sorted(measured["torch"].unique())),
            eager_ms=_median(survivors["eager_ms"]),
            speedup=_median(survivors["speedup"]),
        )

    @cached_property
    def timings(self) -> pl.DataFrame:
        """`key`, `eager_ms`, `compiled_ms`, `speedup`, `fate` and `reason` of each measured."""
        eager_ms = pl.col("eager").struct.field("median_ms")
        compiled_ms = pl.col("compiled").struct.field("median_ms")
        verdicts = self.frames["judge"].select("subject", "verdict", judged="reason")
        return (
            self._kept("measure", Measurement)
            .join(verdicts, on="subject", how="left", suffix="_judge", maintain_order="left")
            .select(
                "device",
                key="subject",
                eager_ms=eager_ms,
                compiled_ms=compiled_ms,
                speedup=eager_ms / compiled_ms,
                fate=pl.col("verdict_judge").fill_null("waiting"),
                reason=pl.col("judged"),
            )
        )

    @property
    def points(self) -> pl.DataFrame:
        """Timings to draw one by one, at most `MAX_POINTS`."""
        return self.timings.sort("key").head(MAX_POINTS)

    @property
    def speedups(self) -> pl.DataFrame:
        """Stacked histogram of speed-ups in quarter octaves.

        Columns: `low`, `high`, `fate`, `count`, and `start` and `end` of the bar.
        """
        step = (pl.col("speedup").log(2) * BINS_PER_OCTAVE).floor()
        edges = {
            "low": (2.0 ** (step / BINS_PER_OCTAVE)),
            "high": (2.0 ** ((step + 1) / BINS_PER_OCTAVE)),
        }
        return _histogram(self.timings.filter(pl.col("speedup") > 0).with_columns(**edges))

    @property
    def similarities(self) -> pl.DataFrame:
        """Histogram of the similarity to the nearest benchmark problem, as `speedups`."""
        kept = self._kept("screen", Screening).select(
            similarity="benchmark_similarity", fate=pl.lit("kept")
        )
        near = _rejected(self.frames["screen"]).filter(pl.col("reason") == "near_benchmark")
        both = pl.concat([kept, near.select(similarity="value", fate=pl.lit("rejected"))])
        # A similarity of 1 belongs to the last bin, and 0.7 in floating point to that from 0.7.
        last = round(1 / SIMILARITY_BIN) - 1
        step = (pl.col("similarity") / SIMILARITY_BIN + 1e-9).floor().clip(0, last)
        return _histogram(
            both.drop_nulls().with_columns(
                low=(step * SIMILARITY_BIN).round(2), high=((step + 1) * SIMILARITY_BIN).round(2)
            )
        )

    def operators(self, top: int) -> pl.DataFrame:
        """Most used operators in the traced graphs of survivors: `op`, `uses` and `share`."""
        survivors = self.timings.filter(pl.col("fate") == "kept")["key"]
        uses = (
            self._kept("measure", Measurement)
            .filter(pl.col("subject").is_in(survivors.to_list()))
            .select(op=pl.col("graph").explode(empty_as_null=False).struct.field("op"))
        )
        counts = uses.group_by("op").agg(uses=pl.len())
        shares = counts.with_columns(share=pl.col("uses") / uses.height)
        return shares.sort(["uses", "op"], descending=[True, False]).head(top)

    def limit(self, stage: str, reason: str) -> float | None:
        """The limit that rejections for *reason* name, where there is any."""
        found = _rejected(self.frames[stage]).filter(pl.col("reason") == reason)["limit"]
        limits = found.drop_nulls()
        return float(limits[-1]) if limits.len() else None

    def _kept(self, stage: str, record: type[Record]) -> pl.DataFrame:
        frame = self.frames[stage].filter(pl.col("verdict") == "kept")
        if frame.width > len(VERDICT_SCHEMA):
            return frame
        return pl.DataFrame(schema=VERDICT_SCHEMA | schema_of(record))


def _survival(stages: Sequence[Stage]) -> float | None:
    share = 1.0
    for stage in stages:
        if share and not stage.inputs:
            return None
        share *= stage.kept / stage.inputs if stage.inputs else 0.0
    return share


def _rejected(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("verdict") == "rejected")


def _median(values: pl.Series) -> float | None:
    return float(values.median()) if values.len() else None  # type: ignore[arg-type]


def _histogram(binned: pl.DataFrame) -> pl.DataFrame:
    counts = binned.group_by("low", "high", "fate").agg(count=pl.len().cast(pl.Int64))
    end = pl.col("count").cum_sum().over("low", order_by="fate")
    return counts.with_columns(start=end - pl.col("count"), end=end).sort("low", "fate")
