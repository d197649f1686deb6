# make demo        a fresh environment, the first notebook executed, its panel on the terminal and as demo.html
# make lab         the first notebook in JupyterLab
# make test        linter, type checker, Python tests on the oldest and newest JAX, front end, browser
# make test-all    the same and what `make test` leaves out: both versions whole, all attacks, mutants, benchmarks
# make notebooks   the notebooks run in a real JupyterLab, and pictures of their panels stored in them
# make gallery     each notebook's main panel as one offline page, in build/gallery
# make help        the other targets

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

DEMO := .venv
OLDEST := .venv-oldest
NEWEST := .venv-newest
PYTEST := -m pytest -q
WORKERS ?= 2
# A file's tests stay in one process: they share what they compile, notebooks, servers. The longest file comes first.
FILES := --dist loadfile --no-loadscope-reorder
BESIDE := -n $(WORKERS) $(FILES)
# Each process imports and collects everything, which is 20 s of a processor: beside another suite one is enough.
ALONE := -n 1 $(FILES)
SUITES = $$(.ci/find-python newest) .ci/suites.py --first environments
export JAXSTAGE_COMPILERS ?= required
# Our modules become bytecode once, not in each of the hundred processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE
# What a checker or compiler said of the same source is kept beside the packages' caches, for fresh clones too.
KEPT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/jaxstage-tests
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
export npm_config_update_notifier := false

PACKAGE := $(shell find jaxstage_ext -name '*.py') pyproject.toml hatch_build.py
FRONT_END := $(shell find labextension -type d \( -name node_modules -o -name lib \) -prune -o -type f -print)
NODE_MODULES := labextension/node_modules/.package-lock.json
# What the build writes last.
STATIC := jaxstage_ext/static/labextensions/jaxstage/package.json

.PHONY: help demo lab notebooks gallery test test-all environments lint types test-oldest test-oldest-whole test-newest \
  test-newest-1 test-newest-2 test-frontend test-browser test-browser-whole benchmarks hostile mutants clean

help:
	@sed -n 's/^# make /make /p' Makefile
	@echo
	@echo 'make lint types test-oldest test-newest test-frontend test-browser    the parts of make test'
	@echo 'make hostile     all attempts of tests/hostile, of which make test makes a part'
	@echo 'make mutants     deliberate faults, each of which must turn a test red'
	@echo 'make benchmarks  the figures that we promise, measured'
	@echo 'make clean       removes environments, caches and what was built'

# ---- environments -----------------------------------------------------------------------------------------

# Made anew each time, so that nothing of older dependencies is left in it.
define environment
	@echo "== $(1): $$($(2) --version), $(3)"
	@rm -rf $(1)
	@$(2) -m venv $(1)
endef

# What compiles for TPUs and GPUs that are not here (2.6 GB), a disassembler: not for every machine. A compiler is known
# by the time of its files, too: of one release it is the same here, so that what one clone has compiled serves the next.
define compilers
	@install=".ci/install $(1) -c $(1)/bounds.txt -e"; \
	$$install '.[tpu,cuda,asm]' 2>/dev/null || for extra in tpu cuda asm; do \
	  $$install ".[$$extra]" && continue; \
	  echo "$(1): '.[$$extra]' could not be installed (pip says why above)."; \
	  if [ "$$JAXSTAGE_COMPILERS" = required ]; then \
	    echo "Where there is none for this machine: 'make test JAXSTAGE_COMPILERS=optional' skips the tests that need it."; \
	    exit 1; \
	  fi; \
	done
	@find $(1)/lib -type f -size +4M \( -name '*.so' -o -name ptxas \) -exec touch -d 2000-01-01 {} +
endef

LOWER_BOUNDS := 'import tomllib; \
  needs = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]; \
  print("\n".join(need.replace(">=", "==") for need in needs))'

$(DEMO)/.ready: $(PACKAGE) $(STATIC)
	$(call environment,$(DEMO),$$(.ci/find-python newest),the package as a user installs it)
	@$(DEMO)/bin/python -m pip --disable-pip-version-check -qq install '.[lab]'
	@touch $@

$(NEWEST)/.ready: pyproject.toml hatch_build.py | $(STATIC)
	$(call environment,$(NEWEST),$$(.ci/find-python newest),the newest JAX)
	@.ci/install $(NEWEST) -e '.[dev]'
	@$(NEWEST)/bin/python -c 'from importlib.metadata import version; print("jax==" + version("jax"))' > $(NEWEST)/bounds.txt
	$(call compilers,$(NEWEST))
	@touch $@

$(OLDEST)/.ready: pyproject.toml hatch_build.py | $(STATIC)
	$(call environment,$(OLDEST),$$(.ci/find-python oldest),the oldest release of everything we depend on)
	@$(OLDEST)/bin/python -c $(LOWER_BOUNDS) > $(OLDEST)/bounds.txt
	@.ci/install $(OLDEST) -c $(OLDEST)/bounds.txt -e '.[test]'
	$(call compilers,$(OLDEST))
	@touch $@

$(NODE_MODULES): labextension/package.json labextension/package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js 20 or newer'; exit 1; }
	@.ci/install-node-modules labextension $(KEPT)/node_modules
	@touch $@

$(STATIC): $(FRONT_END) | $(NODE_MODULES)
	cd labextension && npm run build
	@touch $@

# ---- to look at -------------------------------------------------------------------------------------------

demo: $(DEMO)/.ready
	$(DEMO)/bin/python notebooks/demo.py notebooks/01_first_look.ipynb demo.html

lab: $(DEMO)/.ready
	$(DEMO)/bin/jupyter lab $(AS_ROOT) notebooks/01_first_look.ipynb

# Those whose names begin as NOTEBOOKS="09 10" says, or all; `--stale` those that are older than what made them, and
# `--check` names these alone.
notebooks: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAX_PLATFORMS=$${JAX_PLATFORMS:-cpu} $(NEWEST)/bin/python -m tests.showcase $(NOTEBOOKS)

gallery: $(NEWEST)/.ready $(STATIC)
	JAX_PLATFORMS=$${JAX_PLATFORMS:-cpu} $(NEWEST)/bin/python -m tests.showcase --gallery $(NOTEBOOKS)

# ---- tests ------------------------------------------------------------------------------------------------

# A browser waits more than it computes, so more suites run at once than there are cores.
test:
	@$(SUITES) --at-once 3 test-newest-1 test-newest-2 test-browser test-oldest lint types test-frontend

test-all:
	@$(SUITES) --at-once 3 test-newest-whole test-oldest-whole hostile test-browser-whole lint types test-frontend
	@$(SUITES) --at-once 1 mutants benchmarks

environments:
	@$(MAKE) -j2 $(STATIC) $(NEWEST)/.ready $(OLDEST)/.ready

lint: $(NEWEST)/.ready
	$(NEWEST)/bin/ruff check .
	$(NEWEST)/bin/ruff format --check .

types: $(NEWEST)/.ready
	MYPY_CACHE_DIR=$${MYPY_CACHE_DIR:-$(KEPT)/mypy} $(NEWEST)/bin/mypy

test-frontend: $(NODE_MODULES)
	cd labextension && npm run typecheck && npm test

PYTHON_TESTS := tests --ignore=tests/browser --ignore=tests/benchmarks

# What depends on the version of JAX, as tests/helpers/what_runs.py has it.
test-oldest: $(OLDEST)/.ready
	JAXSTAGE_SUITE=oldest $(OLDEST)/bin/python $(PYTEST) $(PYTHON_TESTS) $(ALONE)

test-oldest-whole: $(OLDEST)/.ready
	$(OLDEST)/bin/python $(PYTEST) $(PYTHON_TESTS) $(BESIDE)

test-newest: $(NEWEST)/.ready
	JAXSTAGE_SUITE=newest $(NEWEST)/bin/python $(PYTEST) $(PYTHON_TESTS) $(BESIDE)

# Its halves, as tests/helpers/shards.py deals out the files.
test-newest-1 test-newest-2: test-newest-%: $(NEWEST)/.ready
	JAXSTAGE_SHARD=$*/2 JAXSTAGE_SUITE=newest $(NEWEST)/bin/python $(PYTEST) $(PYTHON_TESTS) $(ALONE)

test-newest-whole: $(NEWEST)/.ready
	$(NEWEST)/bin/python $(PYTEST) $(PYTHON_TESTS) $(BESIDE)

hostile: $(NEWEST)/.ready
	JAXSTAGE_HOSTILE=full $(NEWEST)/bin/python $(PYTEST) tests/hostile --timeout 1800 $(BESIDE)

mutants: $(NEWEST)/.ready $(NODE_MODULES) $(STATIC)
	$(NEWEST)/bin/python -m tests.mutants

test-browser: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAXSTAGE_SUITE=newest JAXSTAGE_BROWSER=required $(NEWEST)/bin/python $(PYTEST) tests/browser $(ALONE)

test-browser-whole: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAXSTAGE_BROWSER=required $(NEWEST)/bin/python $(PYTEST) tests/browser $(ALONE)

benchmarks: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAXSTAGE_BROWSER=required $(NEWEST)/bin/python $(PYTEST) tests/benchmarks -m benchmark -s

clean:
	rm -rf $(DEMO) $(OLDEST) $(NEWEST) jaxstage_ext/static labextension/node_modules labextension/lib dist demo.html
	rm -rf build .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/browser/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
