# `make demo` shows the main job on embedded defaults, `make check` tests what is fast, `make test` all that runs by
# itself, and `make test-components` what needs Docker, gVisor, emulated machines, another user or other products,
# installs packages, keeps the machine busy, or goes a guide's whole way.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FAST   := $(addprefix tests/,gate lint semconv trace sandbox/scanners evaluators/boundary evaluators/correctness \
          evaluators/detect evaluators/execution evaluators/runs evaluators/trajectory)

# The tests wait for sandboxes, servers and pages as much as they compute: one worker more than two cores.
WORKERS ?= 3
PYTEST  := $(BIN)/pytest -n $(WORKERS) --dist worksteal
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# uv takes a quarter of pip's time. It does not read pip's configuration: where that names the index, pip installs.
UV      := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt
# A test run starts thousands of interpreters: none may compile each module anew.
unexport PYTHONDONTWRITEBYTECODE
COMPONENTS := alone or docker or e2e or gvisor or install or load or machine or other_user or peers

.PHONY: demo test test-components check lint types unit fast explore hooks figures map reference docs docs-version console pictures clean

demo: $(VENV)/.demo
	$(BIN)/spanproof demo

test: lint unit

# The types are checked while the tests run: neither needs two cores all the time.
check: lint
	$(MAKE) --no-print-directory -j2 types fast

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tests/lint/words.py
	$(BIN)/python tests/lint/function_names.py
	$(BIN)/python tests/lint/verb_shapes.py
	$(BIN)/python tests/lint/figures.py --check

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev $(VENV)/.system
	$(PYTEST) -m "not ($(COMPONENTS))"

# CI runs these after `make test`. Some products are built from source or installed the first time.
test-components: $(VENV)/.dev $(VENV)/.system $(VENV)/.components
	$(PYTEST) -m "($(COMPONENTS)) and not alone"; others=$$?; $(BIN)/pytest -m alone && exit $$others

# What starts no sandbox, no collector and no installation.
fast: $(VENV)/.dev
	$(PYTEST) -q -m "not ($(COMPONENTS))" $(FAST)

# The property tests with examples that no run drew before.
explore: $(VENV)/.dev $(VENV)/.system $(VENV)/.components
	SPANPROOF_EXAMPLES=new $(PYTEST) -q -m hypothesis

# The documentation as a site, in .cache/site: it loads nothing from elsewhere.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# The same below its version, committed to the branch gh-pages, which holds the site of every version.
docs-version: $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 SITE_OFFLINE=false $(BIN)/mike deploy --update-aliases \
		"$$($(BIN)/python deploy/docs-site/version.py)" latest
	$(BIN)/mike set-default latest

# A hook that refuses commit messages of another form than CONTRIBUTING.md describes.
hooks:
	git config core.hooksPath .githooks

# The size and the shape of the code, and how far a reader walks who follows four journeys through it.
figures: $(VENV)/.dev
	$(BIN)/python tests/lint/figures.py

map: $(VENV)/.dev
	$(BIN)/python tests/lint/imports.py

# The references that are made from the code: configuration, commands, APIs, scores, rules, metrics, attributes.
reference: $(VENV)/.dev
	$(BIN)/python deploy/docs-site/references

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Spanproof needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) uv
	$(UV) -e '.[demo]' || $(PIP) -e '.[demo]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) uv
	$(UV) -e '.[dev]' || $(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.demo

# What the tests start beside Python. Missing programs are installed where apt-get can be used, else named.
$(VENV)/.system: tests/system-packages.txt
$(VENV)/.components: tests/component-packages.txt
$(VENV)/.system $(VENV)/.components: tests/install_system_packages.sh | $(VENV)/bin/python
	sh tests/install_system_packages.sh $(filter %.txt,$^)
	@touch $@

# The console's bundle, which is committed: an installation needs no Node.
console: $(VENV)/.dev
	$(BIN)/python -c 'import json; from spanproof.api import build_app; print(json.dumps(build_app(None).openapi()))' \
		> collector/console/openapi.json
	cd collector/console && npm ci --no-audit --no-fund && npm run types && npm run build

# The pictures of the console in the documentation: look at them before they are committed.
pictures: $(VENV)/.dev $(VENV)/.components
	$(BIN)/python deploy/docs-site/pictures.py

clean:
	rm -rf $(VENV) .cache dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
