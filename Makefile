# Everything runs from .venv, which `make install` builds from the hashes in requirements.lock.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help install demo test test-long lint bench lock schemas clean

help:  ## what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

install: .venv/.installed  ## create .venv from the lock file (idempotent)

.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: install  ## start everything, file fifteen labelled disputes, check how each one ends
	$(BIN)/refund-bench demo

test: install  ## everything that fits in twelve minutes
	$(BIN)/python -m pytest -m "not long" -n 2 --no-loadscope-reorder

test-long: install  ## the kinds of test that wait
	$(BIN)/python -m pytest -m long --timeout 3600

lint: install  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install  ## every benchmark the README quotes, as JSON
	@# arroyo pins a confluent-kafka that ours excludes; its code runs on ours, beside the lock file.
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .venv/peers sentry-arroyo==2.38.4
	for bench in pipeline async-stage gate judges price queries sink; do \
	  PYTHONPATH=.venv/peers $(BIN)/refund-bench bench $$bench --json || exit; done

lock: install  ## resolve pyproject.toml again; versions and hashes only
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra local --extra dev --universal --generate-hashes \
	  --no-header --python-version 3.11 -o requirements.lock

schemas: install  ## write schemas/json from the models; refuses a change that breaks someone
	$(BIN)/python -m schemas.export

clean:  ## remove what make built
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
