# `make demo` and `make test` need only Python 3.11+, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.ready
DEV := $(VENV)/.ready-dev

# Tests start hundreds of processes; without this each of them would compile our modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow lint lint-page format bench paper site dist clean

demo: $(SETUP)
	$(BIN)/samekind demo

test: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-slow: $(DEV)
	$(BIN)/python -m pytest -m slow --durations=10

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-page; \
	else echo "There is no npm here: the page's JavaScript is not checked."; fi

# prettier and the type checker, for the page's JavaScript
lint-page: node_modules/.package-lock.json
	npm run --silent lint

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --silent --no-audit --no-fund

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@if command -v npm >/dev/null; then npm run --silent format; fi

bench: $(DEV)
	$(BIN)/python -m benchmarks

# The paper's tables and figures, written into docs/ when all are there. It goes on where it was stopped. About an hour
# for all; `make paper DATA=shuttle RUNS=10` takes seconds, and leaves docs/ alone.
DATA ?= all
RUNS ?= 100
OUT ?= experiment-results
paper: $(DEV)
	$(BIN)/python -m experiments paper $(DATA) --runs $(RUNS) --out $(OUT)
ifeq ($(DATA) $(RUNS),all 100)
	$(BIN)/python -m experiments publish $(OUT)
endif

# The documentation; what it shows is run first, as `make test` leaves that out.
site: $(DEV)
	$(BIN)/python -m pytest -q -m "slow or not slow" tests/test_docs.py tests/test_docs_blocks.py
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs site
	$(BIN)/python docs/check_site.py site

# The wheel and the source, checked; `python packaging/try_wheel.py dist` installs the wheel in an empty environment.
dist: | $(VENV)/bin/python
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf $(VENV) site docs/api docs/gallery samekind-demo samekind-run experiment-results

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "samekind needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 demo"'
	$(PYTHON) -m venv $(VENV)

$(SETUP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

$(DEV): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@if command -v chromium chromium-browser google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	else echo "There is no Chromium here: tests of the page will be skipped."; fi
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -qq -y --no-install-recommends postgresql >/dev/null; \
	else echo "There is no PostgreSQL here: tests of projects on a server will be skipped."; fi
	touch $@ $(SETUP)
