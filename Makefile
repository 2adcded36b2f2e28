# make report   build the report of the example, or of EDITION=2021 RESULTS=<folder>
# make test     run all tests            make lint    ruff, mypy, clean notebooks
# make golden   rewrite tests/golden     make bench   speed, as ratios; not part of the tests
#               (ORGANISERS=<their SCORING folder>: against their validator of counterexamples)
# make fuzz     properties and counterexamples against second methods, at length; a report twice
# make example  run the competition of data/example again: benchmarks, then all tools (8 minutes)
# make clean    remove what was built (not .venv)
# Needs Python 3.11 or newer and make; sets up .venv by itself.

PYTHON ?= python3
BIN := .venv/bin
EDITION ?= example
RESULTS ?=
ORGANISERS ?=
OPTIONS ?=
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: report example test lint golden bench fuzz clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

report: .venv/.ready
	@echo "report: $(EDITION) -> reports/ (run times of the stages follow)"
	@$(BIN)/vnnanalysis report $(EDITION) $(if $(RESULTS),--results '$(RESULTS)') $(OPTIONS)

example: .venv/.ready
	@echo "example: benchmarks, then every tool on every instance; rewrites data/example"
	@$(BIN)/python data/example/make_benchmarks.py
	@$(BIN)/python data/example/run.py

test: .venv/.ready-dev
	@echo "test: all tests, two at a time; those on real data need ../shared or VNNANALYSIS_REAL_DATA"
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/.ready-dev
	@echo "lint: ruff, mypy, nbstripout"
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	@$(BIN)/nbstripout --verify notebooks/*.ipynb

golden: .venv/.ready-dev
	@echo "golden: rewriting tests/golden; review the difference before you commit it"
	@$(BIN)/python -m pytest -q tests/test_report.py -k golden --rewrite-golden

bench: .venv/.ready-dev
	@echo "bench: speed as ratios"
	@$(BIN)/python tests/bench.py $(if $(RESULTS),'$(RESULTS)')
	@$(BIN)/python tests/bench_insight.py $(if $(RESULTS),'$(RESULTS)')
	@$(BIN)/python tests/bench_explorer.py $(if $(RESULTS),'$(RESULTS)')
	@$(BIN)/python tests/bench_validate.py '$(or $(RESULTS),../shared/results)' $(if $(ORGANISERS),'$(ORGANISERS)')

fuzz: .venv/.ready-dev
	@echo "fuzz: properties and counterexamples against slow second methods, at length"
	@VNNANALYSIS_FUZZ=1 $(BIN)/python -m pytest -q tests/test_vnnlib.py tests/test_validate.py
	@VNNANALYSIS_FUZZ=1 $(BIN)/python -m pytest -q -m length

clean:
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache *.egg-info
	@find reports -mindepth 1 -maxdepth 1 ! -name templates -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with make PYTHON=..."; exit 1; }
	@echo "setting up .venv (once, a few minutes)"
	@$(PYTHON) -m venv .venv \
	  || { rm -rf .venv; echo "Python's venv module is needed; on Debian: apt install python3-venv"; exit 1; }

# The tested versions; newer ones where those do not exist for this Python.
.venv/.ready: .venv/bin/python pyproject.toml constraints.txt
	@echo "installing vnnanalysis into .venv"
	@$(INSTALL) -c constraints.txt -e . \
	  || { echo "the tested versions (constraints.txt) cannot be installed here; trying the newest"; $(INSTALL) -e .; }
	@mkdir -p .venv/etc/ipython # ipykernel 7 warns in every terminal, papermill cannot switch it off
	@echo 'c.IPKernelApp.log_level = "ERROR"' > .venv/etc/ipython/ipython_kernel_config.py
	@touch $@

.venv/.ready-dev: .venv/.ready
	@echo "installing what the tests need into .venv"
	@$(INSTALL) -c constraints.txt -e ".[dev]" \
	  || { echo "the tested versions (constraints.txt) cannot be installed here; trying the newest"; $(INSTALL) -e ".[dev]"; }
	@touch $@
