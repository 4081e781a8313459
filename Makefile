# Two commands matter: `make demo` shows the main job, `make test` proves it.
# Each sets itself up; nothing is needed beyond Python >= 3.11 and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check soak bench clean

demo: $(READY)
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Runs until stopped: SEED=n repeats a run, SECONDS=n ends it.
soak: $(READY)
	$(BIN)/python -m tests.soak $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS))

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@
