# From a fresh clone, with only Python >= 3.11 and pip:  make demo, make test, make lint, make bench
# Another interpreter:  make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt
SAMPLES := sample_traces

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint format bench readme samples constraints clean

help:  ## Show this list
	@awk -F ':.*## *' '/^[a-z]+:.*##/ { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What a user gets; `venv` below adds what a developer needs. Each stamp is as new as what it was made from.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "latshift needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12")'
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing latshift into $(VENV)"
	@$(INSTALL) --editable .
	@$(BIN)/python -m compileall -q latshift
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "installing the test dependencies into $(VENV)"
	@$(INSTALL) --editable '.[test]'
	@touch $@

venv: $(VENV)/.installed-test  ## Make .venv with latshift and everything its tests need

demo: $(VENV)/.installed  ## Analyze the sample traces and ask one what-if question
	$(BIN)/latshift analyze $(SAMPLES)/2026.otlp.jsonl.gz
	$(BIN)/latshift whatif $(SAMPLES)/2026.otlp.jsonl.gz --speedup llm=2x --parallelize feature-store,retrieval

test: venv  ## Run the tests
	$(BIN)/python -m pytest -q -n 2

lint: venv  ## Check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict latshift

format: venv  ## Format the code and apply safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: venv  ## Measure latshift against orjson on generated traces (minutes)
	$(BIN)/python -m compileall -q latshift
	$(BIN)/python -m bench.run

readme: venv  ## Write what the README's commands print now into the README
	$(BIN)/python tests/test_readme.py

samples: venv  ## Write the sample traces anew
	$(BIN)/python $(SAMPLES)/make_samples.py

constraints:  ## Resolve the pinned versions anew
	@$(PYTHON) -m venv build/resolver
	@build/resolver/bin/python -m pip install -qq --disable-pip-version-check uv
	build/resolver/bin/uv pip compile --quiet --universal --upgrade --all-extras --python-version 3.11 \
		--no-header --no-annotate --no-emit-index-url --output-file constraints.txt pyproject.toml

clean:  ## Remove everything that was made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis bench/data build
