"""Take from a tree what says nothing of what it computes. Each function changes the tree given."""

import ast
from collections.abc import Container


def stripped(tree: ast.Module, places: Container[tuple[int, int]] = ()) -> ast.Module:
    """Drop imports, docstrings, annotations, `pass` and the statements that start at *places*.

    A place is a line and a column. An f-string becomes a plain string.
    """
    _Stripper(places).visit(tree)
    return tree


def numberless(tree: ast.Module) -> ast.Module:
    """Replace every number, and arithmetic on numbers alone, by 0."""
    _NumberBlanker().visit(tree)
    return tree


def typed(tree: ast.Module) -> ast.Module:
    """Replace every literal by the name of its type; a sign goes with its number."""
    _Typist().visit(tree)
    return tree


class _Stripper(ast.NodeTransformer):
    def __init__(self, places: Container[tuple[int, int]]) -> None:
        self.places = places

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in self.places:
            return None
        visited: ast.AST | None = super().visit(node)
        return visited

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.stmt | ast.ExceptHandler) and getattr(node, "body", None) == []:
            setattr(node, "body", [ast.Pass()])  # noqa: B010 -- not every statement has a body
        return node

    def visit_Import(self, _: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, _: ast.ImportFrom) -> None:
        return None

    def visit_Pass(self, _: ast.Pass) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        plain = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(plain, node))

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        # An f-string only makes a message, and ast.unparse fails on some of them.
        return ast.copy_location(ast.Constant("f-string"), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
        return self.generic_visit(node)


class _NumberBlanker(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_number = isinstance(node.value, int | float | complex)
        return _zero(node) if is_number and not isinstance(node.value, bool) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _zero(node) if _is_zero(node.operand) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _zero(node) if _is_zero(node.left) and _is_zero(node.right) else node


class _Typist(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.copy_location(ast.Name(type(node.value).__name__, ast.Load()), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.visit_Constant(node.operand)
        return self.generic_visit(node)


def _zero(node: ast.expr) -> ast.AST:
    return ast.copy_location(ast.Constant(0), node)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and node.value is not False
