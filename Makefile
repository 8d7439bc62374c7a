# make install | run | test | check | bench | clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONFIG ?= configs/quickstart.yaml

# What `make bench` measures: the composer on DRAWN seeds; N problems, SAMPLE of them again; KERNELBENCH=dir adds its level 2.
DEVICE ?= $(if $(shell command -v nvidia-smi 2>/dev/null),cuda,cpu)
ifeq ($(DEVICE),cuda)
N ?= 1100
SAMPLE ?= 200
DRAWN ?= 20000
else
N ?= 12
SAMPLE ?= 6
DRAWN ?= 2000
BENCH := --workers 2 --sequential 6
endif
BENCH_RUN := runs/bench/$(DEVICE)

.PHONY: install run test check bench clean

install: $(VENV)/installed

# torch comes from constraints.txt through pip, so that a fresh install is the tested one.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

run: install
	$(BIN)/fusewright run --config $(CONFIG)

test: install
	$(BIN)/pytest --numprocesses 2 --dist loadfile

check: install
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install
	$(BIN)/python benchmarks/composing.py --n $(DRAWN) --device $(DEVICE)
	$(BIN)/fusewright compose --run $(BENCH_RUN) --composer graph --n $(N) --no-check \
	  --set "compose.composers=[{name: graph, settings: {device: $(DEVICE)}}]"
	$(BIN)/python benchmarks/problems.py $(BENCH_RUN) runs/bench/$(DEVICE).jsonl $(N)
	$(BIN)/python benchmarks/measuring.py --problems runs/bench/$(DEVICE).jsonl \
	  --device $(DEVICE) --sample $(SAMPLE) $(BENCH) $(if $(KERNELBENCH),--kernelbench $(KERNELBENCH))

clean:
	rm -rf $(VENV) runs dist benchmarks/raw .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
