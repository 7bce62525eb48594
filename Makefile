# Each target creates .venv and installs what it needs; "make help" lists them.
# The installation is repeated when pyproject.toml or constraints.txt changes.

PORT ?= 5006
ADDRESS ?= localhost
# Folder with the benchmark sets; the tests that need them are left out without it.
DATA_DIR ?= $(SUPDR_DATA_DIR)
# More options for the command behind the target: make serve ARGS=--no-browser, make test ARGS="-k svm".
ARGS ?=

PYTHON_IN_VENV := .venv/bin/python
INSTALLED := .venv/installed
INSTALLED_TEST := .venv/installed-test
INSTALLED_ALL := .venv/installed-all
INSTALLED_DOCS := .venv/installed-docs
RECIPE := pyproject.toml constraints.txt scripts/install.sh
# Two processes: see tests/conftest.py for who does what.  The kernels are compiled before, once for both.
PYTEST := $(PYTHON_IN_VENV) -m pytest --numprocesses=2 --dist=loadscope --no-loadscope-reorder $(if $(DATA_DIR),--data-dir=$(DATA_DIR))

# Words that this project avoids are looked for in texts and in code.
TEXTS := README.md CHANGELOG.md CONTRIBUTING.md docs core supdr_viz apps benchmarks scripts

.PHONY: help serve test test-all test-times fuzz faults soak lint bench docs clean

help:
	@echo "make serve       start the explorer on http://localhost:$(PORT)"
	@echo "make test        run the tests, those in a real browser included"
	@echo "make test-all    run the long extras too, among them Firefox, WebKit, JupyterLab, UMAP and PaCMAP"
	@echo "make test-times  run the tests and print the seconds of every file and of the slowest tests"
	@echo "make fuzz        give the app 10,000 damaged links, states, lessons, sweeps, messages and files"
	@echo "make faults      kill servers, tabs, sweeps and workers at random moments, 50 times each"
	@echo "make soak        let 20 visitors do everything at random for 30 minutes"
	@echo "make lint        check style, types, docstrings, spelling, scripts, and the pinned versions for known weaknesses"
	@echo "make docs        build the documentation: docs/_build/html/index.html"
	@echo "make bench       measure speed against peers"
	@echo "make clean       remove .venv, caches and downloaded browsers"

serve: $(INSTALLED)
	@$(PYTHON_IN_VENV) -m supdr_viz.cli --port $(PORT) --address $(ADDRESS) $(ARGS)

test: $(INSTALLED_TEST)
	@$(PYTHON_IN_VENV) -m supdr.warm
	@chromium="$$(sh scripts/chromium.sh)" && CHROMIUM="$$chromium" $(PYTEST) -m "not slow" $(ARGS)

test-all: $(INSTALLED_ALL)
	@sh scripts/engines.sh
	@$(PYTHON_IN_VENV) -m supdr.warm
	@chromium="$$(sh scripts/chromium.sh)" && CHROMIUM="$$chromium" $(PYTEST) $(ARGS)

test-times: override ARGS += --times
test-times: test

fuzz: $(INSTALLED_TEST)
	@$(PYTHON_IN_VENV) -m supdr.warm
	$(PYTHON_IN_VENV) -m tests.bad_input.fuzz $(ARGS)

faults: $(INSTALLED_ALL)
	@$(PYTHON_IN_VENV) -m supdr.warm
	$(PYTHON_IN_VENV) -m tests.faults.kills $(ARGS)

soak: $(INSTALLED_TEST)
	@$(PYTHON_IN_VENV) -m supdr.warm
	@chromium="$$(sh scripts/chromium.sh)" && CHROMIUM="$$chromium" $(PYTHON_IN_VENV) -m tests.live.soak $(ARGS)

lint: $(INSTALLED_TEST)
	$(PYTHON_IN_VENV) -m ruff check .
	$(PYTHON_IN_VENV) -m ruff format --check .
	$(PYTHON_IN_VENV) -m mypy
	find core supdr_viz -name '*.py' -exec $(PYTHON_IN_VENV) -m numpydoc lint {} +
	$(PYTHON_IN_VENV) -m codespell_lib $(TEXTS) tests
	$(PYTHON_IN_VENV) -m codespell_lib --dictionary scripts/plain_words.txt $(TEXTS)
	sh scripts/javascript.sh
	sh scripts/audit.sh

bench: $(INSTALLED_TEST)
	@chromium="$$(sh scripts/chromium.sh)" && CHROMIUM="$$chromium" $(PYTHON_IN_VENV) benchmarks/speed.py \
		$(if $(DATA_DIR),--data-dir $(DATA_DIR)) $(ARGS)

docs: $(INSTALLED_DOCS)
	$(PYTHON_IN_VENV) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The documentation is at docs/_build/html/index.html"

clean:
	rm -rf .venv .browsers build dist docs/_build docs/_static docs/_autosummary docs/gallery *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): $(RECIPE)
	@PYTHON="$(PYTHON)" sh scripts/install.sh app
	@touch $@

$(INSTALLED_TEST): $(RECIPE)
	@PYTHON="$(PYTHON)" sh scripts/install.sh test
	@touch $@ $(INSTALLED)

$(INSTALLED_ALL): $(RECIPE)
	@PYTHON="$(PYTHON)" sh scripts/install.sh test-all
	@touch $@ $(INSTALLED_TEST) $(INSTALLED)

$(INSTALLED_DOCS): $(RECIPE)
	@PYTHON="$(PYTHON)" sh scripts/install.sh docs
	@touch $@ $(INSTALLED)
