# Two commands do everything: `make demo` and `make test`. Nothing needs to be installed first but Python.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# What pip does for packages that are not editable. Where Python may not write it, every start would compile again.
BYTECODE := $(BIN)/python -m compileall -q src

QUICK := --numprocesses=2 --dist=loadfile --no-loadscope-reorder -m 'not spark and not browser and not slow'

.PHONY: help demo setup test quick matrix matrix-short check format docs bench soak faults fuzz mutants health sbom audit reproduce clean

help:
	@echo "make demo       set up, simulate a log, learn from it, show what came out"
	@echo "make test       set up, lint, check types, run all tests"
	@echo "make quick      lint, types and the tests without Spark, browsers and long training: under 90 seconds"
	@echo "make matrix     the quick tests on every supported Python, and with the lowest versions (ARGS='3.13 lowest')"
	@echo "make matrix-short  the lowest versions on the lowest Python and the newest on the highest, in some rooms; CI runs it"
	@echo "make setup      .venv with the package and every extra, for development"
	@echo "make check      formatting, lint and types alone"
	@echo "make docs       generate the commands, API, rooms and presets, build the site into site/"
	@echo "make bench      speed beside the libraries one would use instead (ARGS='--only search --shape M')"
	@echo "make mutants    change the code in one place at a time, print what no test notices (ARGS='--files models/lexical')"
	@echo "make health     code that nothing uses, and the coverage of each room by the quick tests (ARGS=tests/text)"
	@echo "make sbom       the versions of all dependencies as CycloneDX JSON in build/sbom.json"
	@echo "make audit      compare them with a database of known vulnerabilities"
	@echo "make faults     kill -9, damaged files, hostile manifests, full disks, and what happened (ARGS='damage --trials 500')"
	@echo "make fuzz       give changed files to every reader for some time (MINUTES=10 ARGS=judgments)"
	@echo "make soak       a server for half an hour: load, slow and huge clients, 10,000 connections, bad models (ARGS='--minutes 1')"
	@echo "make reproduce  the papers' experiments on simulated and real logs; writes docs/reproduction.md (ARGS=--quick)"
	@echo "make clean      remove .venv and all caches"

demo: .venv/demo.done
	@$(BIN)/coclick demo demo

setup: .venv/dev.done

test: setup check
	@$(BIN)/python -m pytest --numprocesses=3 --dist=loadfile --no-loadscope-reorder

quick: setup check
	@$(BIN)/python -m pytest $(QUICK)

matrix: .venv/made
	@$(BIN)/python tests/matrix.py $(ARGS) --pytest="$(QUICK)"

matrix-short: .venv/made
	@$(BIN)/python tests/matrix.py --short $(ARGS) --pytest="$(QUICK)"

check: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

format: setup
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

docs: setup
	@$(BIN)/python -m docs.commands
	@$(BIN)/python -m docs.api
	@$(BIN)/python -m docs.rooms
	@$(BIN)/python -m docs.presets
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "to read it: $(BIN)/python -m http.server --directory site"

bench: .venv/bench.done
	@$(BIN)/python -m benchmarks $(ARGS)

mutants: setup
	@PYTHONPATH=tests $(BIN)/python -m mutation $(ARGS)

health: .venv/health.done
	@PYTHONPATH=src $(BIN)/python tests/health.py $(ARGS)

sbom: .venv/audit.done build/requirements.txt
	@$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --mc-type library --output-reproducible \
		--output-file build/sbom.json build/requirements.txt
	@echo "build/sbom.json has $$(grep -c '"purl"' build/sbom.json) packages"

audit: .venv/audit.done build/requirements.txt
	@$(BIN)/python tests/audit.py build/requirements.txt $(ARGS)

faults: setup
	@PYTHONPATH=tests $(BIN)/python -m faults $(ARGS)

fuzz: setup
	@PYTHONPATH=tests $(BIN)/python -m faults.fuzz --minutes $(or $(MINUTES),10) $(ARGS)

soak: setup
	@$(BIN)/python -m benchmarks._soak $(ARGS)

reproduce: setup
	@$(BIN)/python -m reproduce $(ARGS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build demo site

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit("coclick needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/demo.done: .venv/made pyproject.toml
	@echo "installing coclick"
	@$(PIP) --editable ".[eval,ltr,serve]"
	@$(BYTECODE)
	@touch $@

.venv/dev.done: .venv/made pyproject.toml
	@echo "installing coclick with every extra and the development tools"
	@$(PIP) --editable ".[all,dev]"
	@$(BYTECODE)
	@touch $@ .venv/demo.done

build/requirements.txt: .venv/dev.done
	@mkdir -p build
	@$(BIN)/python tests/dependencies.py > $@

.venv/audit.done: .venv/dev.done
	@echo "installing cyclonedx-bom and pip-audit"
	@$(PIP) "cyclonedx-bom>=7" "pip-audit>=2.9"
	@touch $@

.venv/health.done: .venv/dev.done
	@echo "installing vulture and coverage"
	@$(PIP) "vulture>=2.14" "coverage>=7.6"
	@touch $@

.venv/bench.done: .venv/dev.done
	@echo "installing the libraries that benchmarks compare with"
	@$(PIP) --editable ".[bench]"
	@touch $@
