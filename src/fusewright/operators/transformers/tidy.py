"""Take from a definition what only its library needs: annotations, decorators, logging, kernels."""

import ast
import copy
from collections.abc import Sequence
from typing import TypeVar

from fusewright.operators.transformers.unfit import UnfitError

Node = TypeVar("Node", bound=ast.stmt)

_KEPT_DECORATORS = {"property", "staticmethod", "classmethod"}
_PLAIN_BASES = {"GradientCheckpointingLayer"}
"""Bases that add to nn.Module only what training a whole model needs."""
_TALK = {"logger", "warnings"}
_INITIAL_SPREAD = 0.02
"""Standard deviation that stands for weights which the library fills after construction.

Source: `initializer_range` of its configurations, 0.02 nearly everywhere.
"""


def tidy(node: Node) -> Node:
    """A copy of the definition *node* with plain PyTorch semantics.

    Raises:
        UnfitError: It is a dataclass.
    """
    tidied = _Tidier().visit(copy.deepcopy(node))
    assert isinstance(tidied, type(node))
    return ast.fix_missing_locations(tidied)


def _without_docstring(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]


class _Tidier(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        had_body = bool(getattr(node, "body", None))
        super().generic_visit(node)
        if had_body and not getattr(node, "body", None):
            setattr(node, "body", [ast.Pass()])  # noqa: B010 -- not every statement has a body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        node.decorator_list = [
            d for d in node.decorator_list if isinstance(d, ast.Name) and d.id in _KEPT_DECORATORS
        ]
        node.body = _without_docstring(node.body) or [ast.Pass()]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
            raise UnfitError(f"{node.name} is a dataclass")
        node.decorator_list = []
        node.bases = [_plain_base(base) for base in node.bases]
        node.body = _without_docstring(node.body) or [ast.Pass()]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        plain = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(plain, node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            speaker = call.func.value
            if isinstance(speaker, ast.Name) and speaker.id in _TALK:
                return None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="ALL_ATTENTION_FUNCTIONS")),
                args=[_, eager],
            ):
                return eager
            case ast.Call(
                func=ast.Attribute(attr="Parameter"),
                args=[
                    ast.Call(
                        func=ast.Attribute(value=ast.Name(id="torch"), attr="empty" | "Tensor")
                    ) as e
                ],
            ):
                # Memory as it was found would make every run another operator.
                drawn = ast.Call(_path("torch", "randn"), e.args, e.keywords)
                node.args = [ast.BinOp(drawn, ast.Mult(), ast.Constant(_INITIAL_SPREAD))]
        return node


def _plain_base(base: ast.expr) -> ast.expr:
    if isinstance(base, ast.Name) and base.id in _PLAIN_BASES:
        return _path("nn", "Module")
    return base


def _path(first: str, attribute: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(first, ast.Load()), attribute, ast.Load())
