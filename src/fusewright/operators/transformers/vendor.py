"""Write the vendored file anew: `python -m fusewright.operators.transformers.vendor`.

It needs the extra `transformers`, and takes some minutes. What is turned away stands by reason on
standard error, and class by class in the file that `--rejected` names.
"""

import argparse
import ast
import collections
import gc
import importlib.metadata
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch

from fusewright.operators.transformers.apart import LostError, apart
from fusewright.operators.transformers.arguments import configuration_of, method, spell_out
from fusewright.operators.transformers.candidates import candidates
from fusewright.operators.transformers.configurations import defaults, warm_up
from fusewright.operators.transformers.excerpt import excerpt
from fusewright.operators.transformers.kinship import Relatives, text_key
from fusewright.operators.transformers.library import Definition, Library
from fusewright.operators.transformers.settings import Settings
from fusewright.operators.transformers.trial import Excerpt, prepare, trial
from fusewright.operators.transformers.unfit import UnfitError
from fusewright.operators.transformers.vendored import Edition, Vendored, packaged, written
from fusewright.operators.verdict import turn_away
from fusewright.records import Rejection

SOURCE = "transformers"
TIMEOUT_S = 30.0
"""Longest trial of one class, seconds."""
HOLDER = "Copyright 2018- The Hugging Face team. All rights reserved."
NOTICE = (
    "Licensed under the Apache License, Version 2.0 (http://www.apache.org/licenses/LICENSE-2.0). "
    "The text of each class was changed: annotations, docstrings, decorators and logging are left "
    "out, what it needs of its library stands before it, its configuration is spelled out as "
    "constructor arguments with the values of the default configuration, and weights that the "
    "library fills after construction are drawn from a normal distribution."
)

_EVERY = 100


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m fusewright.operators.transformers.vendor")
    parser.add_argument("--library", default="transformers", help="package to read")
    parser.add_argument("--out", type=Path, default=Path(str(packaged())), help="file to write")
    parser.add_argument("--rejected", type=Path, help="file for what is turned away, JSON lines")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    # Forked processes do not take the threads of a pool along.
    torch.set_num_threads(1)
    vendoring = Vendoring(Library(asked.library))
    verdicts = list(_shown(vendoring.verdicts()))
    kept = [verdict for verdict in verdicts if isinstance(verdict, Vendored)]
    turned = [verdict for verdict in verdicts if isinstance(verdict, Rejection)]
    asked.out.write_text(written(edition(asked.library), kept), encoding="utf-8")
    if asked.rejected:
        asked.rejected.write_text("".join(f"{each.model_dump_json()}\n" for each in turned))
    counts = collections.Counter(each.reason for each in turned)
    sys.stderr.write(f"{len(verdicts)} classes, {len(kept)} kept, {dict(counts)}\n")


def edition(library: str) -> Edition:
    """What is known of the installed *library*."""
    version = importlib.metadata.version(library)
    return Edition(
        library=library,
        version=version,
        revision=f"v{version}",
        url="https://github.com/huggingface/transformers",
        license="Apache-2.0",
        copyright=HOLDER,
        notice=NOTICE,
    )


class Vendoring:
    """Reads one library, class by class."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._version = f"{library.name} {importlib.metadata.version(library.name)}"
        self._relatives = Relatives()
        self._settings: dict[str, Mapping[str, Settings]] = {}
        self._faults: dict[str, str] = {}
        warm_up(library.name)
        prepare()
        # What was loaded so far is shared by all processes, and not for the collector to touch.
        gc.freeze()

    def verdicts(self) -> Iterator[Vendored | Rejection]:
        """Yield what becomes of each module class, by model and place."""
        for definition in candidates(self._library):
            name = f"{SOURCE}.{_model(definition)}.{definition.name}"
            try:
                yield self._vendored(name, definition)
            except (UnfitError, LostError) as error:
                yield turn_away(SOURCE, name, error.reason, str(error))

    def _vendored(self, name: str, definition: Definition) -> Vendored:
        excerpt = self._excerpt(name, definition)
        self._relatives.claim(name, [text_key(excerpt.source_code)])
        tried = apart(lambda: trial(excerpt, self._version), TIMEOUT_S)
        self._relatives.claim(name, tried.keys)
        text = self._library.text(definition.module)
        assert text
        return Vendored(
            name=name,
            module=f"{self._library.name}.{definition.module}",
            copyright=_copyright(text.header),
            family=tried.operator.family,
            source_code=excerpt.source_code,
            init=tried.operator.init,
            call=tried.operator.call,
            inputs=tried.operator.inputs,
        )

    def _excerpt(self, name: str, definition: Definition) -> Excerpt:
        """The text of *definition* by the first configuration that has all it asks for."""
        faults: list[UnfitError] = []
        for settings in self._options(definition):
            try:
                spelled = spell_out(self._library, definition, settings)
                text = excerpt(self._library, spelled)
            except UnfitError as error:
                faults.append(error)
            else:
                return Excerpt(name, text, spelled.defaults)
        raise faults[0]

    def _options(self, definition: Definition) -> Sequence[Settings]:
        """Configurations that *definition* may be meant for: the one that it names, or any."""
        node = definition.node
        assert isinstance(node, ast.ClassDef)
        configured = configuration_of(node)
        if not configured and method(node, "__init__"):
            return [Settings({})]
        model = _model(definition)
        known = self._defaults(model)
        named = known.get(configured[2]) if configured else None
        options = [named] if named else list(known.values())
        if configured and not options:
            raise UnfitError(f"no default configuration: {self._faults.get(model, 'none found')}")
        return options or [Settings({})]

    def _defaults(self, model: str) -> Mapping[str, Settings]:
        if model not in self._settings:
            found: dict[str, Settings] = {}
            for module in self._library.modules(f"models/{model}/configuration_*.py"):
                try:
                    found |= apart(partial(defaults, self._library.name, module), TIMEOUT_S)
                except (UnfitError, LostError) as error:
                    self._faults[model] = str(error)
            self._settings[model] = found
        return self._settings[model]


def _shown(verdicts: Iterator[Vendored | Rejection]) -> Iterator[Vendored | Rejection]:
    for number, verdict in enumerate(verdicts, 1):
        if number % _EVERY == 0:
            sys.stderr.write(f"{number} classes\n")
        yield verdict


def _model(definition: Definition) -> str:
    return definition.module.split(".")[1]


def _copyright(header: str) -> str:
    lines = [line.strip() for line in header.splitlines() if line.strip().startswith("Copyright")]
    return "; ".join(lines) or HOLDER


if __name__ == "__main__":
    main()
