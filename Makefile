# Everything a person or CI runs. `make` alone lists it. Nothing but Python 3.11-3.13 and make is needed.
.DEFAULT_GOAL := help
.PHONY: help setup setup-distributed setup-dev setup-all demo test check integration e2e bench bench-chunking chaos oracle fuzz soak kafka schemas docs lock clean

BIN := .venv/bin
# One resolution for every supported Python and platform, all extras together; the smaller locks are parts of it.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --no-annotate --group build pyproject.toml

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## .venv with what the embedded lake needs
	@tools/setup.sh requirements.lock

setup-distributed: ## .venv with what the distributed lake needs too
	@tools/setup.sh requirements-distributed.lock

setup-dev: ## .venv with the tools of tests and checks too
	@tools/setup.sh requirements-dev.lock

setup-all: ## .venv with every extra and the tools
	@tools/setup.sh requirements-all.lock

demo: setup ## see Upwell at work on a small company's documents
	@$(BIN)/upwell demo

test: setup-dev ## the fast tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

check: setup-dev ## style, types, imports, and that generated files are current
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest tests/unit/test_schemas.py tests/unit/test_docs.py tests/unit/test_packaging.py

integration: setup-dev ## tests against real services and child processes
	$(BIN)/python -m pytest -m integration --timeout 900

e2e: setup-dev ## tests that drive the installed command
	$(BIN)/python -m pytest -m e2e --timeout 900

bench: setup-dev ## measure; takes minutes
	$(BIN)/python -m pytest -m bench --timeout 3600 -s

bench-chunking: setup-dev ## chunks against recursive splitting, and how local edits are (UPWELL_CORPORA)
	$(BIN)/python -m pytest -m "bench or integration" tests/bench/test_chunking.py tests/property/test_stability.py \
		--timeout 3600 -s

SEED := 1
KILLS := 40
EVENTS := 2000
DOCUMENTS := 300
MINUTES := 20
chaos: setup-dev kafka ## kill everything and count: SEED=1 KILLS=40 EVENTS=2000 DOCUMENTS=300
	$(BIN)/python tests/chaos/run.py --seed $(SEED) --kills $(KILLS) --events $(EVENTS) --documents $(DOCUMENTS)

SEARCHES := 20000
oracle: setup-dev ## search random histories in every way, and hold each answer to account: SEED=1 SEARCHES=20000
	$(BIN)/python tests/oracle/run.py --seed $(SEED) --searches $(SEARCHES)

FILES := 10000
fuzz: setup-dev ## send mutated documents through the parsers' sandbox: SEED=1 FILES=10000
	$(BIN)/python tests/fuzz/run.py --seed $(SEED) --files $(FILES)

soak: setup-dev kafka ## let the workers run, and watch their memory: MINUTES=20
	UPWELL_SOAK_MINUTES=$(MINUTES) $(BIN)/python -m pytest -m bench tests/bench/test_soak.py --timeout 7200 -s

kafka: ## Apache Kafka's jars into .kafka, for tests that need a broker (Java 17 and Maven)
	@tools/kafka/fetch.sh

schemas: setup-dev ## write schemas/ from the records
	$(BIN)/python -m upwell.schemas schemas

docs: setup-dev ## write the generated pages of docs/
	$(BIN)/python tools/make_docs.py
	$(BIN)/python -m upwell.metrics > docs/metrics.md

lock: ## resolve the lock files anew (needs the tools of setup-dev)
	$(COMPILE) --all-extras --group dev --output-file requirements-all.lock
	$(COMPILE) --extra distributed --extra s3 --group dev --constraint requirements-all.lock --output-file requirements-dev.lock
	$(COMPILE) --extra distributed --extra s3 --constraint requirements-all.lock --output-file requirements-distributed.lock
	$(COMPILE) --constraint requirements-all.lock --output-file requirements.lock

clean: ## remove what the targets above made, .venv included
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .kafka .fuzz build dist
	find services tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
