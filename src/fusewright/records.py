"""The records that travel down the pipeline, each a frozen row that knows nothing of torch.

An `Operator` is mined, a `Draw` asks a composer for one `Problem`, a `Screening` and a
`Measurement` are what two stages learnt of it, and a `Rejection` says why something went no
further. The sentence under a field is at once its comment, its schema text and the text of its
column in the dataset card.
"""

import hashlib
import json
from functools import cached_property
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, field_validator


class Record(BaseModel):
    """A frozen row. Its key is the hash of its content, so equal rows collide."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @cached_property
    def key(self) -> str:
        """Sixteen hex digits of the SHA-256 of the sorted JSON."""
        body = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()[:16]


class TensorSpec(Record):
    """One tensor that an operator takes, as a sample known to be valid."""

    shape: tuple[int, ...]
    """Sizes of the sample; correctness-sized, never meant for timing."""
    dtype: str = "float32"
    """Name of the torch dtype, without the `torch.` prefix."""
    low: float | None = None
    """Least value of the sample; None draws from a standard normal."""
    high: float | None = None
    """Greatest value of the sample."""


class Operator(Record):
    """One mined PyTorch callable, self-tested on the CPU."""

    name: str
    """Qualified name as a person writes it (`F.gelu`, `nn.Conv2d`, `torch.logsumexp`); unique."""
    family: str
    """Coarse class used for sampling and statistics: `elementwise`, `reduction`, `conv` ..."""
    kind: Literal["function", "module", "source_module"]
    """`function` is called, `module` is constructed first, `source_module` brings its own text."""
    source: str
    """Name of the operator source that yielded it."""
    call: str
    """Expression that runs it, `{0}`, `{1}` being its tensors and `{m}` the built module."""
    init: str = ""
    """Expression that constructs the module; empty for a function."""
    source_code: str = ""
    """Python text that `init` and `call` need, run before them in a child; empty for most."""
    inputs: tuple[TensorSpec, ...]
    """A valid sample for each tensor that `call` names, in order."""
    aliases: tuple[str, ...] = ()
    """Other names of the same computation that were dropped in favour of this one."""
    signature: str = ""
    """Hash of the traced aten calls, ranks and arguments: equal for aliases."""
    domain: tuple[float | None, float | None] = (None, None)
    """Interval of the first input on which the output is finite, as probed; None is unbounded."""
    dtypes: tuple[str, ...] = ()
    """Floating dtypes that the operator accepted on the CPU."""
    flags: tuple[str, ...] = ()
    """Measured traits: `nondeterministic`, `data_dependent`, `view`, `inductor_fallback` ..."""
    snippet: str = ""
    """Signature and first lines of documentation or source: text for a prompt."""
    license: str = "BSD-3-Clause"
    """SPDX identifier of the licence of `snippet` and `source_code`."""
    version: str
    """Library and version it was mined from: `torch 2.13.0`."""


class Draw(Record):
    """A request for one problem: the input of the compose stage."""

    composer: str
    """Name of the composer that is asked."""
    seed: int
    """Seed of the draw; the same composer, seed and operators give the same text."""


class Problem(Record):
    """A candidate in KernelBench form: `Model`, `get_inputs` and `get_init_inputs`."""

    code: str
    """Python source of the problem."""
    ops: tuple[str, ...]
    """Operators that the composer was asked for, in order; the row's `ops` come from the trace."""
    composer: str
    """Composer that wrote it: `graph` or `llm`."""
    model: str | None = None
    """Language model that wrote it; null for the graph composer."""
    seed: int
    """Seed of the draw."""

    @cached_property
    def id(self) -> str:
        """Sixteen hex digits of the SHA-256 of the text alone: the `id` of its row."""
        return hashlib.sha256(self.code.encode()).hexdigest()[:16]


class Screening(Record):
    """What the text of a problem told before anything ran."""

    problem: str
    """Key of the problem."""
    canonical: str
    """Hash of the canonical text: equal under renaming, formatting and comments."""
    numberless: str
    """Hash of the canonical text with every number blanked."""
    nearest_benchmark: str | None = None
    """Benchmark problem with the highest similarity, as `benchmark/problem`."""
    benchmark_similarity: float | None = None
    """Exact Jaccard similarity to it, of AST-normalised 5-token shingles of classes."""
    nearest_row: str | None = None
    """`id` of the most similar earlier candidate, where any shares a MinHash band."""
    row_similarity: float | None = None
    """Exact Jaccard similarity to it."""


class Node(Record):
    """One operator of a traced graph."""

    op: str
    """Catalogue name: `nn.Conv2d`, `torch.logsumexp`."""
    inputs: tuple[int, ...]
    """Producers of its tensors: index of an earlier node, or -1-k for the k-th input."""


class Timing(Record):
    """Repeated timings of one callable on one device."""

    median_ms: float
    """Median time of one call, milliseconds."""
    spread: float
    """Interquartile range over the median, a ratio."""
    repetitions: int
    """Number of timed calls."""


class Measurement(Record):
    """What one device said of one problem. Times are medians in milliseconds."""

    problem: str
    """Key of the problem."""
    device: str
    """Name as the driver or the processor gives it."""
    torch: str
    """Version of PyTorch that measured it."""
    dtype: str
    """Floating dtype of the first input."""
    input_shapes: tuple[tuple[int, ...], ...]
    """Shapes of the tensors that `get_inputs` returns."""
    output_shapes: tuple[tuple[int, ...], ...]
    """Shapes of the tensors that `forward` returns."""
    params: int
    """Number of parameter elements."""
    graph: tuple[Node, ...]
    """Operators that forward really runs, traced, in order of execution."""
    eager: Timing
    """Eager execution."""
    compiled: Timing
    """`torch.compile` in its default mode."""
    graph_breaks: int = 0
    """Graph breaks of the compiled model; 0 means that one graph covers forward."""
    peak_memory_bytes: int
    """Most memory held at once on the device during eager execution; on a CPU, of the tensors."""
    flops: int
    """Floating-point operations of matrix products, convolutions and attention in one call."""
    io_bytes: int
    """Fewest bytes that one call must move: inputs, parameters and outputs once."""
    sol_ms: float
    """Speed-of-light time: the greater of `flops` and `io_bytes` over the device's peaks."""
    bound: Literal["memory", "compute", "launch"]
    """Which limit is nearest: bytes, FLOPs, or the cost of launching."""
    tolerance: float
    """Absolute and relative tolerance of the checks, by dtype."""
    sm_mhz: int | None = None
    """Clock of the GPU's multiprocessors right after the timing, MHz; null where it is not told."""
    throttles: tuple[str, ...] = ()
    """What held the clocks down at that moment: `power_cap`, `thermal` and the like."""
    compile_error_ratio: float | None = None
    """Error of compiled over error of eager, each against float64; null without a reference."""

    @property
    def ops(self) -> tuple[str, ...]:
        """Names of the traced operators, in order, with repeats."""
        return tuple(node.op for node in self.graph)

    @property
    def speedup(self) -> float:
        """Eager over compiled time, a ratio."""
        return self.eager.median_ms / self.compiled.median_ms

    @property
    def headroom(self) -> float:
        """Compiled over speed-of-light time, a ratio; 1 leaves nothing to gain."""
        return self.compiled.median_ms / self.sol_ms


class Passed(Record):
    """The verdict of a stage that keeps a problem and learns nothing new of it."""

    problem: str
    """Key of the problem."""


class Rejection(Record):
    """Why a record went no further. A rejection is data, never an exception."""

    subject: str
    """Key of the stage input that was turned away."""
    stage: str
    """Stage that turned it away."""
    reason: str
    """Stable slug, fit for a group-by: `nonfinite_output`."""
    detail: str = ""
    """One sentence for a person, with the value and the limit."""
    value: float | None = None
    """The measured value, where the reason has one."""
    limit: float | None = None
    """The limit it broke, where the reason has one."""

    @field_validator("detail", mode="before")
    @classmethod
    def _encodable(cls, detail: str) -> str:
        # A message may hold halves of characters, which no file can.
        return detail.encode("utf-8", "backslashreplace").decode()

    @classmethod
    def of(  # noqa: PLR0913 -- a rejection has that many parts
        cls,
        record: Record,
        stage: str,
        reason: str,
        detail: str = "",
        *,
        value: float | None = None,
        limit: float | None = None,
    ) -> Self:
        """Reject *record* for *reason*."""
        return cls(
            subject=record.key,
            stage=stage,
            reason=reason,
            detail=detail,
            value=value,
            limit=limit,
        )
