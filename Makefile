# Two commands matter: `make demo` shows the main job, `make test` proves it.
# Each sets itself up; nothing is needed beyond Python >= 3.11 and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
BENCH  ?= .venv-bench
QUIET  := --quiet --disable-pip-version-check

.PHONY: demo test check docs soak bench clean

demo: $(READY)
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What is generated in docs/; a test fails if it is not what the code says.
docs: $(READY)
	$(BIN)/python docs/generate.py

# Runs until stopped: SEED=n repeats a run, SECONDS=n ends it.
soak: $(READY)
	$(BIN)/python -m tests.soak $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS))

# Measures the built wheel in an environment of its own: PEERS=1 adds the peers, ARGS=… goes to
# `python -m benchmarks`, such as ARGS="--only append --rounds 3".
bench:
	rm -rf $(BENCH) build
	$(PYTHON) -m venv $(BENCH)
	@# What an earlier build left in build/ would go into the wheel, so it goes before and after.
	$(BENCH)/bin/python -m pip wheel $(QUIET) --no-deps --wheel-dir $(BENCH)/wheel .
	rm -rf build
	wheel=$$(ls $(BENCH)/wheel/*.whl) && \
	$(BENCH)/bin/python -m pip install $(QUIET) -c constraints.txt "$$wheel$(if $(PEERS),[bench])"
	$(BENCH)/bin/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) $(BENCH) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@
