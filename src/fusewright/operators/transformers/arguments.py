"""Spell a configuration out: `config.hidden_size` becomes the argument `hidden_size`."""

import ast
from dataclasses import dataclass, field, replace
from typing import Any, cast

from fusewright.operators.transformers.activations import activation
from fusewright.operators.transformers.library import Definition, Library
from fusewright.operators.transformers.settings import Path, Settings
from fusewright.operators.transformers.tidy import tidy
from fusewright.operators.transformers.unfit import UnfitError

_ACTIVATIONS = {"ACT2FN", "get_activation"}


@dataclass
class Spelled:
    """A class that takes no configuration any more, with the classes that it builds."""

    root: Definition
    classes: dict[Definition, ast.ClassDef] = field(default_factory=dict)
    """The rewritten text of each."""
    helpers: dict[str, Definition] = field(default_factory=dict)
    """What the rewritten texts name beyond what their modules know."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """Constructor arguments of the root that stand for the configuration, with their values."""


@dataclass
class _Written:
    """A class rewritten for one place in the configuration."""

    node: ast.ClassDef
    owner: ast.ClassDef
    """Class whose constructor it has: itself, or a base."""
    prefix: Path
    position: int
    """Place of the configuration among the arguments after `self`."""
    keyword: str
    needs: dict[str, Path]
    """Arguments that stand for the configuration, and what each is within it."""


def configuration_of(node: ast.ClassDef) -> tuple[int, str, str] | None:
    """Place after `self`, name and annotation of the constructor's configuration, if it has one."""
    init = method(node, "__init__")
    for place, arg in enumerate(init.args.args if init else ()):
        said = ast.unparse(arg.annotation).strip("'\"") if arg.annotation else ""
        kind = said.partition("|")[0].strip().rpartition(".")[2]
        if arg.arg == "config" or kind.endswith("Config"):
            return place - 1, arg.arg, kind
    return None


def method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method of *node* called *name*."""
    found = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == name]
    return found[-1] if found else None


def spell_out(library: Library, root: Definition, settings: Settings) -> Spelled:
    """Rewrite *root*, and each class that it hands its configuration to, by *settings*.

    Raises:
        UnfitError: The configuration goes where no text can follow it, or lacks a value.
    """
    speller = _Speller(library, settings)
    written = speller.write(root, ())
    if not written:
        return Spelled(root)
    defaults = {name: settings[path] for name, path in written.needs.items()}
    _give_defaults(written.owner, defaults)
    classes = {definition: each.node for definition, each in speller.written.items()}
    return Spelled(root, classes, speller.helpers, defaults)


class _Speller:
    """Rewrites classes as they are met, each once."""

    def __init__(self, library: Library, settings: Settings) -> None:
        self.library = library
        self.settings = settings
        self.written: dict[Definition, _Written] = {}
        self.helpers: dict[str, Definition] = {}
        self._open: set[Definition] = set()

    def write(self, definition: Definition, prefix: Path) -> _Written | None:
        """Rewrite *definition* for the part *prefix*; None where it takes no configuration."""
        known = self.written.get(definition)
        if known and known.prefix == prefix:
            return known
        if definition in self._open:
            raise UnfitError(f"{definition.name} builds itself")
        self._open.add(definition)
        written = self._write(definition, prefix)
        self._open.discard(definition)
        if known and written and ast.unparse(known.node) != ast.unparse(written.node):
            raise UnfitError(f"{definition.name} differs between parts of the configuration")
        if written:
            self.written[definition] = written
        return written

    def _write(self, definition: Definition, prefix: Path) -> _Written | None:
        raw = definition.node
        if not isinstance(raw, ast.ClassDef):
            return None
        configured = configuration_of(raw)
        if configured:
            return _ClassSpeller(self, definition, prefix, configured).result()
        if method(raw, "__init__"):
            return None
        for base in raw.bases:
            found = self.known(definition.module, base)
            inherited = found and self.write(found, prefix)
            if inherited:
                return replace(inherited, node=tidy(raw))
        return None

    def known(self, module: str, name: ast.expr) -> Definition | None:
        """The definition that *name* stands for in *module*, if the library holds its text."""
        if not isinstance(name, ast.Name):
            return None
        try:
            found = self.library.resolve(module, name.id)
        except UnfitError:
            return None
        return found if isinstance(found, Definition) else None


class _ClassSpeller(ast.NodeTransformer):
    """Rewrites one class whose constructor takes a configuration."""

    def __init__(
        self,
        speller: _Speller,
        definition: Definition,
        prefix: Path,
        configured: tuple[int, str, str],
    ) -> None:
        assert isinstance(definition.node, ast.ClassDef)
        self.speller, self.definition, self.prefix = speller, definition, prefix
        self.position, self.keyword, _ = configured
        self.node = tidy(definition.node)
        self.needs: dict[str, Path] = {}
        self.late: dict[str, str] = {}
        """Attributes that methods read later, and the argument that each holds."""
        self.in_init = False
        self.kept = False
        init = method(self.node, "__init__")
        assert init
        self.init = init
        self.bound = _bound(init, self.keyword)
        self.members = _members(self.node)

    def result(self) -> _Written:
        """The class as rewritten."""
        others = [s for s in self.node.body if s is not self.init]
        for statement in others:
            self.visit(statement)
        self.in_init = True
        self.generic_visit(self.init)
        if self.late and not self.kept:
            raise UnfitError(f"{self.node.name} reads a configuration that it does not keep")
        del self.init.args.args[self.position + 1]
        _append(self.init.args, list(self.needs))
        self.init.body = self.init.body or [ast.Pass()]
        ast.fix_missing_locations(self.node)
        return _Written(
            self.node, self.node, self.prefix, self.position, self.keyword, dict(self.needs)
        )

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if self._path(node.value) == () and ast.unparse(target) == "self.config":
            self.kept = True
            return [_assign(f"self.{name}", value) for name, value in self.late.items()]
        self.generic_visit(node)
        if isinstance(target, ast.Name) and ast.unparse(node.value) == target.id:
            return None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.in_init and node.id == self.keyword:
            raise UnfitError(f"{self.node.name} hands its configuration on")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        path = self._path(node)
        if path is None:
            return self.generic_visit(node)
        for length in range(1, len(path) + 1):
            if self.speller.settings.has(self.prefix + path[:length]):
                found = self._argument(path[:length])
                for part in path[length:]:
                    found = ast.Attribute(found, part, ast.Load())
                return found
        raise UnfitError(f"the configuration has no value '{'.'.join(path)}'")

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in _ACTIVATIONS:
            return self._activation(node.slice)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return cast("ast.AST", self.visit(node.body if test.value else node.orelse))
        node.test, node.body, node.orelse = test, self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.Constant(not node.operand.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _ACTIVATIONS:
            return self._activation(node.args[0])
        path = self._path(node.args[0]) if node.args else None
        if path is not None and name in {"getattr", "hasattr", "isinstance"}:
            return self._asked(name, path, node)
        self._hand_on(node)
        return self.generic_visit(node)

    def _asked(self, name: str, path: Path, node: ast.Call) -> ast.AST:
        """Answer what *node* asks about the configuration."""
        second = node.args[1]
        settings = self.speller.settings
        if name == "isinstance":
            kinds = {"str": str, "int": int, "float": float, "bool": bool, "list": list}
            kind = kinds.get(ast.unparse(second))
            if kind is None or not settings.has(self.prefix + path):
                raise UnfitError(f"asks for the type of '{'.'.join(path)}'")
            return ast.Constant(isinstance(settings[self.prefix + path], kind))
        if not isinstance(second, ast.Constant):
            raise UnfitError("asks the configuration for a computed name")
        path = (*path, str(second.value))
        known = settings.has(self.prefix + path)
        if name == "hasattr":
            return ast.Constant(known)
        if known:
            return self._argument(path)
        if len(node.args) == len(("object", "name", "default")):
            return cast("ast.AST", self.visit(node.args[2]))
        raise UnfitError(f"the configuration has no value '{'.'.join(path)}'")

    def _hand_on(self, node: ast.Call) -> None:
        """Replace the configuration among the arguments of *node* by what the callee needs."""
        given: list[tuple[int | str, Path | None]] = []
        given += [(place, self._path(arg)) for place, arg in enumerate(node.args)]
        given += [(word.arg, self._path(word.value)) for word in node.keywords if word.arg]
        found = [(key, p) for key, p in given if self._is_part(p)]
        if not found:
            return
        (key, path), *more = found
        callee = self._callee(node.func)
        assert path is not None
        written = callee and self.speller.write(callee, self.prefix + path)
        if more or not written or key not in (written.position, written.keyword):
            raise UnfitError(f"hands its configuration to {ast.unparse(node.func)}")
        if isinstance(key, int):
            del node.args[key]
        else:
            node.keywords = [k for k in node.keywords if k.arg != key]
        for name, inner in written.needs.items():
            node.keywords.append(ast.keyword(name, self._argument(path + inner)))

    def _is_part(self, path: Path | None) -> bool:
        return path is not None and self.speller.settings.is_part(self.prefix + path)

    def _callee(self, function: ast.expr) -> Definition | None:
        if ast.unparse(function) == "super().__init__":
            assert isinstance(self.definition.node, ast.ClassDef)
            bases = [self.speller.known(self.definition.module, b) for b in self.node.bases]
            return next((base for base in bases if base), None)
        return self.speller.known(self.definition.module, function)

    def _activation(self, name: ast.expr) -> ast.expr:
        path = self._path(name)
        if path is None and isinstance(name, ast.Name):
            # `hidden_act = config.hidden_act` stands just before.
            path = self.needs.get(name.id)
        if path:
            if not self.speller.settings.has(self.prefix + path):
                raise UnfitError(f"the configuration has no value '{'.'.join(path)}'")
            said = self.speller.settings[self.prefix + path]
        elif isinstance(name, ast.Constant):
            said = name.value
        else:
            raise UnfitError(f"the activation is {ast.unparse(name)}")
        built, helper = activation(self.speller.library, said)
        if helper:
            self.speller.helpers[helper.name] = helper
        return built

    def _path(self, node: ast.expr) -> Path | None:
        """What *node* is within the configuration, () the whole; None where it is another thing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            if ast.unparse(node) == "self.config":
                return tuple(reversed(parts))
            parts.append(node.attr)
            node = node.value
        is_root = self.in_init and isinstance(node, ast.Name) and node.id == self.keyword
        return tuple(reversed(parts)) if is_root else None

    def _argument(self, path: Path) -> ast.expr:
        """Expression for the value at *path*, here."""
        name = "_".join(path).replace("_config_", "_")
        if name in self.bound:
            name = f"config_{name}"
        self.needs[name] = path
        if self.in_init:
            return ast.Name(name, ast.Load())
        attribute = f"config_{name}" if name in self.members else name
        self.late[attribute] = name
        return ast.Attribute(ast.Name("self", ast.Load()), attribute, ast.Load())


def _bound(init: ast.FunctionDef, keyword: str) -> set[str]:
    """Names that *init* binds itself, other than to the value of that name."""
    same = {
        id(target)
        for node in ast.walk(init)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and ast.unparse(node.value) == f"{keyword}.{target.id}"
    }
    stored = {
        node.id
        for node in ast.walk(init)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in same
    }
    return stored | {arg.arg for arg in (*init.args.args, *init.args.kwonlyargs)}


def _members(node: ast.ClassDef) -> set[str]:
    """Attributes and methods that *node* has before it is rewritten."""
    attributes = {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self"
    }
    return attributes | {s.name for s in node.body if isinstance(s, ast.FunctionDef)}


def _assign(target: str, value: str) -> ast.stmt:
    return ast.parse(f"{target} = {value}").body[0]


def _append(args: ast.arguments, names: list[str]) -> None:
    """Append parameters without defaults; by keyword only where they could not stand otherwise."""
    fresh = [ast.arg(name) for name in names]
    if args.defaults or args.vararg or args.kwonlyargs:
        args.kwonlyargs += fresh
        args.kw_defaults += [None] * len(fresh)
    else:
        args.args += fresh


def _give_defaults(node: ast.ClassDef, defaults: dict[str, Any]) -> None:
    init = method(node, "__init__")
    assert init
    values = {name: ast.parse(repr(v), mode="eval").body for name, v in defaults.items()}
    if not init.args.kwonlyargs:
        init.args.defaults = list(values.values())
    for place, arg in enumerate(init.args.kwonlyargs):
        init.args.kw_defaults[place] = values.get(arg.arg, init.args.kw_defaults[place])
