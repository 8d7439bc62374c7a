# make install | run | test | check | clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONFIG ?= configs/quickstart.yaml

.PHONY: install run test check clean

install: $(VENV)/installed

# torch comes from constraints.txt through pip, so that a fresh install is the tested one.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

run: install
	$(BIN)/fusewright run --config $(CONFIG)

test: install
	$(BIN)/pytest

check: install
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) runs dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
