"""Functions of torch, as OpInfo samples them: torch's own test suite knows valid calls of each."""

import itertools
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import torch

from fusewright.operators.expression import Rendering, UnrenderableError
from fusewright.operators.sampled import Sample, choose, fate, find, torch_operator
from fusewright.operators.templates import FUNCTIONS
from fusewright.records import Operator

_PREFIXES = ("torch", "F", "torch.special", "torch.linalg", "torch.fft")
_SAMPLES = 32

_DROPPED = re.compile(
    r"""(^|\.)_ | ^torch\.(torch|masked|signal|sparse)\.    # internal, or no dense real tensor
    | (_copy|_like|_strided|_with_indices)$ | \.(native_|unsafe_|as_strided|grid_sampler|upsample)
    | \.(arange|linspace|logspace|empty\w*|zeros|ones|full|eye|scalar_tensor|fill)$
    | \.(rand\w*|normal|bernoulli|multinomial|rrelu|\w*dropout\d?d?|fractional\w*|\w+_lowrank)$
    | ^torch\.\w*(_loss|_with_logits|kl_div)$          # what F.* calls, with numbers for words
    | \.(multi_head_attention_forward|max_unpool\dd)$       # dropout inside; atomic writes
    | \.(cholesky\w*|qr|ormqr|geqrf|householder_product|svd\w*|eig\w*|lu|lu_\w+|ldl\w*|lstsq)$
    | \.(solve\w*|triangular_solve|inv\w*|p?inverse|pinv|det|slogdet|logdet|cond|matrix_rank)$
    | \.(tensorinv|tensorsolve)$
    | \.(clone|conj\w*|real|positive|ravel|reshape\w*)$          # a real tensor stays as it is
    | \.(unique\w*|masked_select|masked_scatter|hist\w+|combinations|cartesian_prod|i?stft)$
    """,
    re.VERBOSE,
)
"""Names that are no work for a kernel: internals, creation, randomness, factorisations, casts,
identities, and outputs whose size depends on values. Views are found by running them."""


@dataclass(frozen=True)
class Functions:
    """Functions of torch, and of its nn.functional, special, linalg and fft."""

    name: str = "functions"

    def operators(self) -> Iterator[Operator]:
        """Yield what OpInfo samples and what is written by hand, each with its other spellings.

        Whether another spelling is the same thing is for the miner to find: it becomes an alias.
        """
        written = {template.name for template in FUNCTIONS}
        entries = _entries()
        for name, variants in entries.items():
            if name not in written and not _DROPPED.search(name) and callable(find(name)):
                found = choose(name, [s for entry in variants for s in _samples(name, entry)])
                if found:
                    yield found
                    yield from _spellings(found, variants, entries.keys() | written)
        for template in FUNCTIONS:
            found = torch_operator(template.name, template.text, template.inputs)
            yield found
            variants = entries.get(template.name, [])
            yield from _spellings(found, variants, entries.keys() | written)


def _entries() -> dict[str, list[Any]]:
    # Imported late: it takes seconds.
    from torch.testing._internal.common_methods_invocations import op_db

    entries: dict[str, list[Any]] = {}
    for entry in op_db:
        entries.setdefault(_spell(entry.name), []).append(entry)
    return entries


def _spell(name: str) -> str:
    head, separator, rest = name.removeprefix("torch.").rpartition("nn.functional.")
    return f"F.{rest}" if separator else f"torch.{head}{rest}"


def _samples(name: str, entry: Any) -> Iterator[Sample]:
    torch.default_generator.manual_seed(0)
    for sample in itertools.islice(entry.sample_inputs("cpu", torch.float32), _SAMPLES):
        rendering = Rendering()
        try:
            call = rendering.call(name, [sample.input, *sample.args], sample.kwargs)
        except UnrenderableError:
            continue
        if rendering.tensors:
            yield Sample(call, tuple(rendering.tensors))


def _spellings(
    operator: Operator, variants: Sequence[Any], taken: AbstractSet[str]
) -> Iterator[Operator]:
    bare = operator.name.rpartition(".")[2]
    names = [_spell(alias.name) for entry in variants[:1] for alias in entry.aliases]
    names += [f"{prefix}.{bare}" for prefix in _PREFIXES]
    for name in dict.fromkeys(names):
        if name not in taken and not _DROPPED.search(name) and callable(find(name)):
            call = operator.call.replace(f"{operator.name}(", f"{name}(", 1)
            found = torch_operator(name, call, operator.inputs)
            if fate(found) in {"fine", "nonfinite"}:
                yield found
