"""The vendored file, and the source that yields it."""

import ast
import sys

from fusewright.operators.expression import malformed
from fusewright.operators.transformers.kinship import text_key
from fusewright.operators.transformers.library import FOREIGN
from fusewright.operators.transformers.source import Transformers
from fusewright.operators.transformers.vendored import packaged, read

MOST_BYTES = 3_000_000


def test_the_file_is_small_and_its_terms_stand_in_it():
    edition, rows = read(packaged())
    assert len(packaged().read_bytes()) < MOST_BYTES
    assert (edition.library, edition.license) == ("transformers", "Apache-2.0")
    assert edition.revision == f"v{edition.version}"
    assert all(row.copyright.startswith("Copyright") for row in rows)


def test_each_text_is_a_class_after_imports_that_only_compute():
    for row in read(packaged())[1]:
        *before, last = ast.parse(row.source_code).body
        assert isinstance(last, ast.ClassDef)
        assert row.name == f"transformers.{row.module.split('.')[2]}.{last.name}"
        for node in before:
            if isinstance(node, ast.Import | ast.ImportFrom):
                named = [getattr(node, "module", None) or alias.name for alias in node.names]
                assert {name.partition(".")[0] for name in named} <= FOREIGN


def test_no_two_texts_are_equal_but_for_names_and_numbers():
    keys = [text_key(row.source_code) for row in read(packaged())[1]]
    assert len(keys) == len(set(keys)) >= 400


def test_each_operator_states_its_terms_and_is_well_formed():
    edition, _ = read(packaged())
    for operator in Transformers().operators():
        assert malformed(operator) is None
        assert operator.license == "Apache-2.0"
        assert operator.version == f"transformers {edition.version}"
        assert operator.snippet.startswith("class ")


def test_the_source_needs_no_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert next(Transformers().operators()).kind == "source_module"
