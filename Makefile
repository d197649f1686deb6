# make demo        a fresh environment, the first notebook executed, its panel on the terminal and as demo.html
# make lab         the first notebook in JupyterLab
# make test        everything: linter, type checker, Python tests on the oldest and newest JAX, front end, browser
# make help        the other targets

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

DEMO := .venv
OLDEST := .venv-oldest
NEWEST := .venv-newest
PIP := -m pip --disable-pip-version-check -qq
PYTEST := -m pytest
WORKERS ?= 2
# A file's tests stay in one process: they share what they compile, notebooks, servers. In the order of their names.
BESIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
export JAXSTAGE_COMPILERS ?= required
# Our modules become bytecode once, not in each of the hundred processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
export npm_config_update_notifier := false

PACKAGE := $(shell find jaxstage_ext -name '*.py') pyproject.toml hatch_build.py
FRONT_END := $(shell find labextension -type d \( -name node_modules -o -name lib \) -prune -o -type f -print)
NODE_MODULES := labextension/node_modules/.package-lock.json
# What the build writes last.
STATIC := jaxstage_ext/static/labextensions/jaxstage/package.json

.PHONY: help demo lab test lint types test-oldest test-newest test-frontend test-browser benchmarks hostile clean

help:
	@sed -n 's/^# make /make /p' Makefile
	@echo
	@echo 'make lint types test-oldest test-newest test-frontend test-browser    the parts of make test'
	@echo 'make hostile     all attempts of tests/hostile, of which make test makes a part'
	@echo 'make benchmarks  the figures that we promise, measured'
	@echo 'make clean       removes environments, caches and what was built'

# ---- environments -----------------------------------------------------------------------------------------

define environment
	@echo "== $(1): $$($(2) --version), $(3)"
	@test -x $(1)/bin/python && $(1)/bin/python -c '' 2>/dev/null || { rm -rf $(1); $(2) -m venv $(1); }
endef

# What compiles for TPUs and GPUs that are not here (2.6 GB), a disassembler: not for every machine.
define compilers
	@for extra in tpu cuda asm; do \
	  $(1)/bin/python $(PIP) install -c $(1)/bounds.txt -e ".[$$extra]" && continue; \
	  echo "$(1): '.[$$extra]' could not be installed (pip says why above)."; \
	  if [ "$$JAXSTAGE_COMPILERS" = required ]; then \
	    echo "Where there is none for this machine: 'make test JAXSTAGE_COMPILERS=optional' skips the tests that need it."; \
	    exit 1; \
	  fi; \
	done
endef

LOWER_BOUNDS := 'import tomllib; \
  needs = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]; \
  print("\n".join(need.replace(">=", "==") for need in needs))'

$(DEMO)/.ready: $(PACKAGE) $(STATIC)
	$(call environment,$(DEMO),$$(.ci/find-python newest),the package as a user installs it)
	@$(DEMO)/bin/python $(PIP) install '.[lab]'
	@touch $@

$(NEWEST)/.ready: pyproject.toml hatch_build.py | $(STATIC)
	$(call environment,$(NEWEST),$$(.ci/find-python newest),the newest JAX)
	@$(NEWEST)/bin/python $(PIP) install --upgrade --upgrade-strategy eager -e '.[dev]'
	@$(NEWEST)/bin/python -c 'from importlib.metadata import version; print("jax==" + version("jax"))' > $(NEWEST)/bounds.txt
	$(call compilers,$(NEWEST))
	@touch $@

$(OLDEST)/.ready: pyproject.toml hatch_build.py | $(STATIC)
	$(call environment,$(OLDEST),$$(.ci/find-python oldest),the oldest release of everything we depend on)
	@$(OLDEST)/bin/python -c $(LOWER_BOUNDS) > $(OLDEST)/bounds.txt
	@$(OLDEST)/bin/python $(PIP) install -c $(OLDEST)/bounds.txt -e '.[test]'
	$(call compilers,$(OLDEST))
	@touch $@

$(NODE_MODULES): labextension/package.json labextension/package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: install Node.js 20 or newer'; exit 1; }
	cd labextension && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(STATIC): $(FRONT_END) | $(NODE_MODULES)
	cd labextension && npm run build
	@touch $@

# ---- to look at -------------------------------------------------------------------------------------------

demo: $(DEMO)/.ready
	$(DEMO)/bin/python notebooks/demo.py notebooks/01_first_look.ipynb demo.html

lab: $(DEMO)/.ready
	$(DEMO)/bin/jupyter lab $(AS_ROOT) notebooks/01_first_look.ipynb

# ---- tests ------------------------------------------------------------------------------------------------

# What one core does, side by side; then the suites, each on all of WORKERS.
test:
	@$(MAKE) -j2 $(STATIC) $(NEWEST)/.ready $(OLDEST)/.ready
	@$(MAKE) -j2 --output-sync=target lint types test-frontend
	@$(MAKE) test-oldest
	@$(MAKE) test-newest
	@$(MAKE) test-browser

lint: $(NEWEST)/.ready
	$(NEWEST)/bin/ruff check .
	$(NEWEST)/bin/ruff format --check .

types: $(NEWEST)/.ready
	$(NEWEST)/bin/mypy

test-frontend: $(NODE_MODULES)
	cd labextension && npm run typecheck && npm test

test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python $(PYTEST) tests --ignore=tests/browser -m 'not benchmark' $(BESIDE)

test-newest: $(NEWEST)/.ready
	$(NEWEST)/bin/python $(PYTEST) tests --ignore=tests/browser -m 'not benchmark' $(BESIDE)

hostile: $(NEWEST)/.ready
	JAXSTAGE_HOSTILE=full $(NEWEST)/bin/python $(PYTEST) tests/hostile --timeout 1800 $(BESIDE)

test-browser: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAXSTAGE_BROWSER=required $(NEWEST)/bin/python $(PYTEST) tests/browser $(BESIDE)

benchmarks: $(NEWEST)/.ready $(STATIC)
	.ci/find-chromium
	JAXSTAGE_BROWSER=required $(NEWEST)/bin/python $(PYTEST) tests/benchmarks -m benchmark -s

clean:
	rm -rf $(DEMO) $(OLDEST) $(NEWEST) jaxstage_ext/static labextension/node_modules labextension/lib dist demo.html
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/browser/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
