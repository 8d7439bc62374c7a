"""The text of an installed package: read with `ast`, never imported."""

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from fusewright.operators.transformers.unfit import UnfitError

FOREIGN = frozenset({"torch", "math", "functools", "itertools", "collections"})
"""Packages that vendored text may import: PyTorch, and modules that only compute."""

_DEEPEST = 6
"""Longest chain of re-exports that is followed."""


@dataclass(frozen=True)
class Definition:
    """A class, a function or a constant at the top level of a module."""

    module: str
    """Dotted name within the package, `models.llama.modeling_llama`."""
    name: str
    node: ast.stmt = field(compare=False, repr=False)


@dataclass(frozen=True)
class Import:
    """A statement that imports a name from one of `FOREIGN`."""

    text: str


class Text:
    """One module: its leading comment, its definitions and its imports."""

    def __init__(self, module: str, text: str) -> None:
        self.module = module
        self._text = text

    @cached_property
    def header(self) -> str:
        """Comment that the file opens with, without its number signs."""
        lines = []
        for line in self._text.splitlines():
            if line.strip() and not line.startswith("#"):
                break
            lines.append(line.lstrip("# ").rstrip())
        return "\n".join(lines).strip()

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Top-level statements."""
        return ast.parse(self._text).body

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """Top-level classes, functions and constants by name; the last of a name counts."""
        found: dict[str, ast.stmt] = {}
        for node in self.body:
            match node:
                case ast.ClassDef() | ast.FunctionDef():
                    found[node.name] = node
                case ast.Assign(targets=[ast.Name(id=name)]):
                    found[name] = node
        return found

    @cached_property
    def imports(self) -> dict[str, tuple[ast.Import | ast.ImportFrom, ast.alias]]:
        """Statement and part that bind each imported name."""
        return {
            (alias.asname or alias.name).partition(".")[0]: (node, alias)
            for node in self.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }


class Library:
    """A package as a folder of texts.

    Raises:
        FileNotFoundError: It is not installed.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.name = name
        self.folder = folder or _folder(name)
        # A parsed module is large, and each trial forks: only those just in use are held.
        self.text = lru_cache(maxsize=16)(self._read)

    def modules(self, pattern: str) -> Iterator[str]:
        """Dotted names of the files that match *pattern*, sorted."""
        for file in sorted(self.folder.glob(pattern)):
            yield ".".join(file.relative_to(self.folder).with_suffix("").parts)

    def _read(self, module: str) -> Text | None:
        """The text of *module*, a package's its `__init__`; None where there is no such file."""
        base = self.folder.joinpath(*module.split(".")) if module else self.folder
        files = (base.with_suffix(".py"), base / "__init__.py")
        found = next((file for file in files if file.is_file()), None)
        return Text(module, found.read_text()) if found else None

    def resolve(self, module: str, name: str, depth: int = 0) -> Definition | Import:
        """What *name* stands for in *module*, followed through the package's own imports.

        Raises:
            UnfitError: It stands for nothing that can be vendored.
        """
        text = self.text(module)
        if text and name in text.definitions:
            return Definition(module, name, text.definitions[name])
        if not text or name not in text.imports or depth > _DEEPEST:
            raise UnfitError(f"'{name}' of {module} has no text")
        node, alias = text.imports[name]
        if isinstance(node, ast.ImportFrom) and node.level:
            return self.resolve(_absolute(self, module, node), alias.name, depth + 1)
        origin = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        if origin.partition(".")[0] not in FOREIGN:
            raise UnfitError(f"'{name}' comes from {origin}")
        return Import(_statement(node, alias))


def _folder(name: str) -> Path:
    # Finding the spec of a top-level package does not run it.
    spec = importlib.util.find_spec(name)
    if not spec or not spec.origin:
        raise FileNotFoundError(f"{name} is not installed: pip install 'fusewright[{name}]'")
    return Path(spec.origin).parent


def _absolute(library: Library, module: str, node: ast.ImportFrom) -> str:
    parts = module.split(".") if module else []
    is_package = (library.folder.joinpath(*parts) / "__init__.py").is_file()
    up = node.level - 1 if is_package else node.level
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def _statement(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(node, ast.Import) and not alias.asname:
        # `import torch.utils.checkpoint` binds `torch`, and nothing vendored needs more of it.
        return f"import {alias.name.partition('.')[0]}"
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(ast.ImportFrom(node.module, [alias], 0))
