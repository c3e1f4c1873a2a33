# Every target does its own set-up: a virtual environment in .venv, made once with the first Python >= 3.11 found on PATH.
.PHONY: demo test conformance bench lint types fmt clean

VENV := .venv
RUN := $(VENV)/bin/python
# An interpreter counts when it runs, is new enough and can make environments (some distributions split that off).
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$p" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
PIP := PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(RUN) -m pip install --quiet -c constraints.txt

demo: $(VENV)/.runtime
	@$(RUN) -m k8s_topo_mcp demo

test: $(VENV)/.dev
	$(RUN) -m pytest $(ARGS)

conformance: $(VENV)/.dev
	$(RUN) -m tests.conformance $(ARGS)

bench: $(VENV)/.dev
	$(RUN) -m benchmarks $(ARGS)
	$(RUN) -m benchmarks.allocator
	$(RUN) -m benchmarks.triage
	$(RUN) -m benchmarks.live
	$(RUN) -m benchmarks.topology
	$(RUN) -m benchmarks.page
	$(RUN) -m benchmarks.scaleup

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports --no-cache

types: $(VENV)/.dev
	$(VENV)/bin/pyright

fmt: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix-only .
	$(VENV)/bin/ruff format .

$(VENV)/.runtime: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer (with venv) on PATH; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(RUN) || { echo "making $(VENV) with $(PYTHON)" >&2; $(PYTHON) -m venv $(VENV); }
	@echo "installing what the server needs, once" >&2
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing what tests and checks need, once" >&2
	@$(PIP) -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) dist .pytest_cache .ruff_cache .hypothesis
