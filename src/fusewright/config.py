"""Everything that a run depends on, as frozen settings; the sentence under a field is its help."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)


class Settings(BaseModel):
    """A frozen group of settings; the sentence under a field is its help text."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def _require_order(settings: Settings, low: str, high: str) -> None:
    least, most = getattr(settings, low), getattr(settings, high)
    if least > most:
        raise ValueError(f"{low} {least} is above {high} {most}; expected {low} <= {high}")


class Plugin(Settings):
    """A plug-in to use, by the name of its entry point or the path of a Python file."""

    name: str
    """Name of the entry point, or a path ending in `.py`; operators may also be in a folder or a
    .parquet or .jsonl file (with a slash in its path), or a Hub dataset, `OWNER/NAME`."""
    settings: dict[str, Any] = {}
    """Keyword arguments of its factory; for a folder, a file or a dataset see `TextSettings`."""


class TextSettings(Settings):
    """How the modules of a folder, a file of rows or a Hub dataset are read."""

    name: str | None = None
    """Name of the source, with which the names of its operators begin; null takes the place's."""
    column: str = "code"
    """Column of the texts, in a file of rows or a dataset."""
    split: str = "train"
    """Split of a Hub dataset."""
    revision: str | None = None
    """Branch, tag or commit of a Hub dataset; null is its newest."""
    license: str = "NOASSERTION"
    """SPDX identifier for texts that state none in a line `# SPDX-License-Identifier: ...`."""


class ComposerShare(Plugin):
    """A composer and its part of the candidates."""

    share: PositiveFloat = 1.0
    """Weight of this composer among all; shares need not sum to 1."""


class MineSettings(Settings):
    """Which operators there are."""

    sources: tuple[Plugin, ...] = Field(
        (Plugin(name="functions"), Plugin(name="modules"), Plugin(name="transformers")),
        min_length=1,
    )
    """Operator sources, asked in this order; an earlier source keeps an alias."""
    timeout_s: PositiveFloat = 20.0
    """Longest self-test of one operator, seconds."""


class ComposeSettings(Settings):
    """How candidates are written."""

    composers: tuple[ComposerShare, ...] = Field((ComposerShare(name="graph"),), min_length=1)
    """Composers and their shares of the candidates."""
    batch: PositiveInt = 200
    """Candidates a flow task composes, screens or measures."""


class ScreenSettings(Settings):
    """What is turned away by its text alone."""

    near_duplicate: float = Field(0.8, gt=0.0, le=1.0)
    """Jaccard similarity to an earlier candidate from which it counts as its copy."""
    near_benchmark: float = Field(0.9, gt=0.0, le=1.0)
    """Jaccard similarity to a benchmark problem from which a candidate is contaminated."""
    benchmarks: tuple[str, ...] = ("kernelbench",)
    """Fingerprints to keep away from: a shipped name, or a path made by `benchmark fingerprint`."""
    filters: tuple[Plugin, ...] = ()
    """Further problem filters, run after the built-in ones."""


class Deadlines(Settings):
    """Longest time of each phase of one candidate, seconds; a phase over it is a `timeout`."""

    build_s: PositiveFloat = 30.0
    """Running the module's text, building the model and drawing inputs."""
    eager_s: PositiveFloat = 60.0
    """First eager calls, checks and tracing."""
    compile_s: PositiveFloat = 120.0
    """torch.compile."""
    timing_s: PositiveFloat = 60.0
    """First compiled call, comparison and timed repetitions."""


class MeasureSettings(Settings):
    """How candidates are run."""

    meter: str = "supervisor"
    """Entry point of the meter, or the path of a Python file that defines `meter`."""
    device: Literal["cpu", "cuda"] = "cuda"
    """Device that runs the candidates."""
    devices: tuple[NonNegativeInt, ...] = Field((0,), min_length=1)
    """Numbers of the devices, among those that are visible; each has its own workers."""
    workers: PositiveInt | None = None
    """Worker processes a device; null shares the cores, less two, among the devices."""
    recycle_after: PositiveInt = 100
    """Candidates after which a worker is replaced by a fresh fork."""
    memory_gb: PositiveFloat = 8.0
    """Host memory that one worker may hold before it is an `out_of_memory`, GB."""
    deadlines: Deadlines = Deadlines()
    """Longest time of each phase."""
    isolation: Literal["best", "required"] = "best"
    """Whether to go on, with a warning, where this machine cannot confine candidates in full."""
    window_ms: tuple[PositiveFloat, PositiveFloat] | None = (1.0, 100.0)
    """Eager times, milliseconds, worth compiling for, besides those that `judge` asks for: a first
    look that is a quarter outside of them ends in `too_easy` or `too_slow`; null compiles all."""
    canary_s: PositiveFloat | None = 60.0
    """Seconds between timings of work that never changes; where two of them differ by over 2 %,
    what was measured in between is measured again. On a GPU only; null does without."""
    warmup_ms: PositiveFloat = 10.0
    """Least time each callable runs before it is timed, milliseconds."""
    budget_ms: PositiveFloat = 12.0
    """Timed repetitions of one callable fill about this long in one round, milliseconds."""
    min_repetitions: PositiveInt = 4
    """Fewest timed repetitions of one callable in one round."""
    max_repetitions: PositiveInt = 50
    """Most timed repetitions of one callable in one round."""
    max_spread: PositiveFloat | None = 0.1
    """Interquartile range over median above which a timing is `noisy_timing`; null accepts any."""
    remeasure_fraction: float = Field(0.03, ge=0.0, le=1.0)
    """Share of what was measured that is measured again, alone; 0 turns it off."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _require_order(self, "min_repetitions", "max_repetitions")
        if self.window_ms and self.window_ms[0] > self.window_ms[1]:
            low, high = self.window_ms
            raise ValueError(f"window_ms begins at {low} and ends at {high}; expected low <= high")
        if len(set(self.devices)) < len(self.devices):
            raise ValueError(f"devices {list(self.devices)} names one twice; expected each once")
        return self


class JudgeSettings(Settings):
    """Thresholds on stored measurements; changing them measures nothing again."""

    min_eager_ms: PositiveFloat = 1.0
    """Eager median under which a problem is `too_easy`, milliseconds (arXiv 2602.24286)."""
    max_eager_ms: PositiveFloat = 100.0
    """Eager median over which a problem is `too_slow`, milliseconds (arXiv 2602.24286)."""
    min_headroom: float | None = Field(1.1, ge=1.0)
    """Compiled over speed-of-light time under which it is `no_headroom`; null asks for none."""
    filters: tuple[Plugin, ...] = ()
    """Further measured filters, run after the built-in ones."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _require_order(self, "min_eager_ms", "max_eager_ms")
        return self


class SelectSettings(Settings):
    """Which of the survivors are published."""

    target: PositiveInt = 6000
    """Rows of the release."""
    guard: float = Field(0.05, ge=0.0, lt=1.0)
    """Share of each timing limit kept free, so that a second measurement flips nothing."""
    numberless_share: float = Field(0.02, ge=0.0, le=1.0)
    """Most rows, as a share of the release, that equal another row but for numbers."""
    runtime_strata: bool = True
    """Spread the rows over runtimes too; off where timings are too noisy to choose by."""


class LimitSettings(Settings):
    """When to stop though the target is not met."""

    candidates: PositiveInt = 60_000
    """Most candidates composed in one run."""
    rounds: PositiveInt = 20
    """Most rounds of compose, screen, measure and judge."""
    hours: PositiveFloat = 24.0
    """Longest time one sitting may start new rounds, hours."""


class ReleaseSettings(Settings):
    """What the release says of itself."""

    version: str = Field("0.1.0", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the release, `MAJOR.MINOR.PATCH`."""
    title: str = "fusewright problems"
    """Name of the dataset, as its card prints it."""


class Config(Settings):
    """Everything that a run depends on."""

    name: str = Field("default", pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    """Name of the run; its folder is `runs/<name>` unless `--run` says otherwise."""
    seed: int = Field(0, ge=0)
    """Seed from which every draw of the run is derived."""
    mine: MineSettings = MineSettings()
    """Which operators there are."""
    compose: ComposeSettings = ComposeSettings()
    """How candidates are written."""
    screen: ScreenSettings = ScreenSettings()
    """What is turned away by its text alone."""
    measure: MeasureSettings = MeasureSettings()
    """How candidates are run."""
    judge: JudgeSettings = JudgeSettings()
    """Thresholds on stored measurements."""
    select: SelectSettings = SelectSettings()
    """Which of the survivors are published."""
    limits: LimitSettings = LimitSettings()
    """When to stop though the target is not met."""
    release: ReleaseSettings = ReleaseSettings()
    """What the release says of itself."""

    @property
    def hash(self) -> str:
        """Sixteen hex digits that change with any setting."""
        body = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()[:16]


def describe(settings: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield dotted name, value and sentence of each setting, depth first."""
    for name, info in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            yield from describe(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value, info.description or ""
