"""A candidate at a part of its batch, where no sample's output depends on another sample.

What is found of a part then holds for the whole, at a part of the time; features keep their sizes.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch

from fusewright.dispatch import tensors_in
from fusewright.measure import checks
from fusewright.measure.candidate import Candidate, mapped

PARTS = 8
"""The batch is divided by this. A sketch found the same faults at an eighth as at the whole."""
LEAST = 16
"""Smallest batch that is divided."""


def sliced(candidate: Candidate, outputs: Sequence[torch.Tensor]) -> Candidate | None:
    """Divide the batch of *candidate*, which returned *outputs* for all of it.

    Returns:
        The candidate at the first samples, or None: dimension 0 of an input and of every output has
        to be the batch, and the outputs for the first samples have to be the same without the rest.
    """
    batch = next((t.shape[0] for t in tensors_in(candidate.inputs) if t.dim()), 0)
    if batch < LEAST or any(t.dim() == 0 or t.shape[0] != batch for t in outputs):
        return None
    samples = batch // PARTS

    def part(inputs: Sequence[Any]) -> list[Any]:
        return mapped(lambda t: t[:samples].clone() if _has(t, batch) else t, inputs)

    smaller = dataclasses.replace(
        candidate, inputs=part(candidate.inputs), draw=lambda seed: part(candidate.draw(seed))
    )
    try:
        alone = smaller.run(smaller.inputs)
    except (RuntimeError, ValueError, TypeError, checks.Fault):
        return None  # a size of the batch stands in the text
    among = [t[:samples] for t in outputs]
    return smaller if checks.moved(among, alone, candidate.tolerance) == 0.0 else None


def _has(tensor: torch.Tensor, batch: int) -> bool:
    return tensor.dim() > 0 and tensor.shape[0] == batch
