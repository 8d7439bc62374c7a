"""The rows of a release: what was kept, and what was turned away with its reason.

The first three columns are those of CUDA-Agent-Ops-6K, so that its readers work unchanged. The
sentence under a field is printed in the dataset card.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from fusewright.identity import branches, skeleton
from fusewright.operators.families import family
from fusewright.records import Draw, Measurement, Operator, Problem, Record, Rejection, Screening


class Row(Record):
    """One published problem."""

    ops: tuple[str, ...]
    """Operators that `forward` runs, traced, in order of execution and with repeats."""
    data_source: str
    """`torch#` and the number of operators."""
    code: str
    """Python source: `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`."""
    id: str
    """First sixteen hex digits of the SHA-256 of `code`."""
    composer: str
    """What wrote it: `graph` (typed graph composer) or `llm`."""
    model: str | None
    """Language model that wrote it; null for the graph composer."""
    seed: int
    """Seed of the draw that it came from."""
    n_ops: int
    """Number of operators, the length of `ops`."""
    families: tuple[str, ...]
    """Family of each of `ops`, in the same order: `elementwise`, `reduction`, `conv` ..."""
    skeleton: str
    """Hash of the traced graph with families for operators: equal for one structure."""
    n_inputs: int
    """Number of tensors that `get_inputs()` returns."""
    branching: bool
    """Whether a value is used twice, or two computed values meet."""
    dtype: str
    """Floating dtype of the first input."""
    input_shapes: tuple[tuple[int, ...], ...]
    """Shapes of the tensors that `get_inputs()` returns."""
    output_shapes: tuple[tuple[int, ...], ...]
    """Shapes of the tensors that `forward` returns."""
    params: int
    """Number of parameter elements."""
    eager_ms: float
    """Median time of one eager call, milliseconds."""
    compiled_ms: float
    """Median time of one call of `torch.compile` in its default mode, milliseconds."""
    eager_spread: float
    """Interquartile range over median of the eager times, a ratio."""
    compiled_spread: float
    """Interquartile range over median of the compiled times, a ratio."""
    eager_repetitions: int
    """Number of timed eager calls."""
    compiled_repetitions: int
    """Number of timed compiled calls."""
    speedup: float
    """`eager_ms` over `compiled_ms`, a ratio."""
    sol_ms: float
    """Speed-of-light time: the fewest bytes and FLOPs over the device's peaks, milliseconds."""
    headroom: float
    """`compiled_ms` over `sol_ms`, a ratio; 1 leaves nothing to gain."""
    bound: Literal["memory", "compute", "launch"]
    """Which limit is nearest: bytes, FLOPs, or the cost of launching."""
    peak_memory_mb: float
    """Most memory held at once during eager execution, in units of 10^6 bytes."""
    tolerance: float
    """Absolute and relative tolerance of the checks, by dtype; grade with the same."""
    device: str
    """Device that measured it, as the driver or the processor gives its name."""
    torch: str
    """Version of PyTorch that measured it."""
    nearest_benchmark: str | None
    """Most similar benchmark problem, as `benchmark/problem`."""
    benchmark_similarity: float | None
    """Exact Jaccard similarity to it, of AST-normalised 5-token shingles of classes."""
    nearest_row: str | None
    """`id` of the most similar earlier candidate, where any shares a MinHash band."""
    row_similarity: float | None
    """Exact Jaccard similarity to it."""
    licenses: tuple[str, ...]
    """SPDX identifiers of the text that its operators were mined from, sorted."""
    release: str
    """Version of the release that published it."""


class RejectedRow(Record):
    """One thing that was turned away: an operator, a draw or a candidate."""

    id: str
    """Key of what was turned away."""
    stage: str
    """Stage that turned it away."""
    reason: str
    """Stable slug, fit for a group-by: `nonfinite_output`."""
    detail: str
    """One sentence for a person, with the value and the limit."""
    value: float | None
    """The measured value, where the reason has one."""
    limit: float | None
    """The limit it broke, where the reason has one."""
    composer: str | None
    """Composer that was asked; null for a mined operator."""
    seed: int | None
    """Seed of the draw; null for a mined operator."""
    code: str | None
    """The candidate's text; null where there is none, as for a mined operator."""


def make_row(
    problem: Problem,
    screening: Screening,
    measurement: Measurement,
    operators: Mapping[str, Operator],
    release: str,
) -> Row:
    """Join what the stages learnt of *problem*; *operators* goes by name and by alias."""
    families = {op: _family(op, operators) for op in measurement.ops}
    return Row(
        ops=measurement.ops,
        data_source=f"torch#{len(measurement.ops)}",
        code=problem.code,
        id=problem.id,
        composer=problem.composer,
        model=problem.model,
        seed=problem.seed,
        n_ops=len(measurement.ops),
        families=tuple(families[op] for op in measurement.ops),
        skeleton=skeleton(measurement.graph, families.__getitem__),
        n_inputs=len(measurement.input_shapes),
        branching=branches(measurement.graph),
        dtype=measurement.dtype,
        input_shapes=measurement.input_shapes,
        output_shapes=measurement.output_shapes,
        params=measurement.params,
        eager_ms=measurement.eager.median_ms,
        compiled_ms=measurement.compiled.median_ms,
        eager_spread=measurement.eager.spread,
        compiled_spread=measurement.compiled.spread,
        eager_repetitions=measurement.eager.repetitions,
        compiled_repetitions=measurement.compiled.repetitions,
        speedup=measurement.speedup,
        sol_ms=measurement.sol_ms,
        headroom=measurement.headroom,
        bound=measurement.bound,
        peak_memory_mb=measurement.peak_memory_bytes / 1e6,
        tolerance=measurement.tolerance,
        device=measurement.device,
        torch=measurement.torch,
        nearest_benchmark=screening.nearest_benchmark,
        benchmark_similarity=screening.benchmark_similarity,
        nearest_row=screening.nearest_row,
        row_similarity=screening.row_similarity,
        licenses=_licenses((*problem.ops, *measurement.ops), operators),
        release=release,
    )


def make_rejected(rejection: Rejection, origin: Problem | Draw | None = None) -> RejectedRow:
    """Join *rejection* with the candidate or draw that it is of; None for a mined operator."""
    return RejectedRow(
        id=rejection.subject,
        stage=rejection.stage,
        reason=rejection.reason,
        detail=rejection.detail,
        value=rejection.value,
        limit=rejection.limit,
        composer=origin.composer if origin else None,
        seed=origin.seed if origin else None,
        code=origin.code if isinstance(origin, Problem) else None,
    )


def _family(op: str, operators: Mapping[str, Operator]) -> str:
    # A trace also holds what no source yielded: `torch.Tensor.view`.
    return operators[op].family if op in operators else family(op)


def _licenses(ops: Iterable[str], operators: Mapping[str, Operator]) -> tuple[str, ...]:
    return tuple(sorted({operators[op].license for op in ops if op in operators}))
