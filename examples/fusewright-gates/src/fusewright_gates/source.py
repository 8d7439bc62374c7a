"""The operators: each with an expression that runs it and a sample that it accepts."""

from collections.abc import Iterator
from dataclasses import dataclass

from fusewright.records import Operator, TensorSpec

SAMPLE = TensorSpec(shape=(4, 8))


@dataclass(frozen=True)
class Gates:
    """Squared ReLU, quick GELU and ReGLU."""

    name: str = "gates"

    def operators(self) -> Iterator[Operator]:
        """Yield each gate once."""
        yield self._gate(
            "gates.squared_relu",
            "torch.square(torch.relu({0}))",
            "The square of a rectifier (Primer, arXiv 2109.08668).",
        )
        yield self._gate(
            "gates.quick_gelu",
            "{0} * torch.sigmoid(1.702 * {0})",
            "A cheap approximation of GELU (arXiv 1606.08415, section 2).",
        )
        yield self._gate(
            "gates.reglu",
            "torch.relu({0}) * {1}",
            "One tensor, gated by the rectifier of another (arXiv 2002.05202).",
            operands=2,
        )

    def _gate(self, name: str, call: str, said: str, operands: int = 1) -> Operator:
        return Operator(
            name=name,
            family="elementwise",
            kind="function",
            source=self.name,
            call=call,
            inputs=(SAMPLE,) * operands,
            snippet=f"{name}: {call}\n\n{said}",
            license="Apache-2.0",
            version="fusewright-gates 1.0.0",
        )
