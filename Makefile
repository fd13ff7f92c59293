# Every command of partwright's developers; `make help` lists them.

# Variables that a shell carries over from other work must not decide what is built or tested here.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE CARGO_TARGET_DIR SPARK_HOME SPARK_CONF_DIR
unexport PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON PYSPARK_SUBMIT_ARGS UV_PROJECT_ENVIRONMENT

SHELL := /bin/sh
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
# pyo3 asks an interpreter about itself: it must be ours, whatever `python3` on PATH is.
export PYO3_PYTHON := $(CURDIR)/$(PYTHON)
# The wheel's sources: the wheel is built anew only if one of them is newer, or was added or deleted.
SOURCES := $(shell find rust python ! -name '*.pyc' ! -name __pycache__) Cargo.toml Cargo.lock pyproject.toml README.md LICENSE THIRD-PARTY-LICENSES.txt partwright.cyclonedx.json
# A sanitizer is for a target, not for the build scripts next to it.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
SECONDS := 30
# Of all random tests: `make test SEED=7`, or PARTWRIGHT_SEED=7, repeats them.
SEED := $(or $(PARTWRIGHT_SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
export PARTWRIGHT_SEED = $(SEED)
export PROPTEST_RNG_SEED = $(SEED)
# This many processes share the tests, file by file, so a broker or a Spark session belongs to one process. Files go in
# their order: some files with a single test take minutes, and would run last and alone if files with many tests came first.
WORKERS := 2
PYTEST := $(PYTHON) -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
# The part of the tests that `make slow` only samples: random questions to the real clients, and Spark tests through Connect.
SOAK := $(addsuffix /test_differential.py,$(addprefix tests/,assignors batching group keys producer)) tests/cluster tests/spark/test_connect.py
CASES := 2000
# The PySparks that `make spark-matrix` tests; if empty, all that tools/spark_matrix.sh lists.
SPARK_VERSIONS :=
# The branch with which `make pr` compares.
BASE := main
# The cargo profile of `make wheel`.
PROFILE := release

.PHONY: coverage sanitize fuzz help demo try test pr slow soak docs spark-matrix setup wheel lint format golden bench instructions clean machine

help: ## List these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{ printf "make %-12s %s\n", $$1, $$2 }'

demo: .venv/wheel ## Run `partwright run` on the flights of 2013 against an embedded Kafka
	@$(PYTHON) -m partwright run --runner spark

try: .venv/try ## Build what changed into .venv in half a minute, without LTO and with checked arithmetic

test: .venv/wheel ## Run the fast tests, Rust and Python: SEED=7
	@echo 'PARTWRIGHT_SEED=$(SEED)'
	cargo test --workspace --locked --quiet
	cargo test --package partwright-core --lib --locked --quiet
	$(PYTEST)

pr: .venv/try ## Run all tests, fast and slow, that the changes since BASE=main can break, on the build of `make try`
	@$(PYTHON) tools/affected.py $(BASE) -- $(PYTEST) -m ''

slow: .venv/wheel ## Run the tests that need a broker, Spark or the real clients
	$(PYTEST) -m slow

soak: .venv/wheel ## Put 2,000 random questions of each kind to the real clients, and run all Spark tests through Connect: CASES=20000 SEED=7 SOAK="tests/…"
	PARTWRIGHT_CASES=$(CASES) PARTWRIGHT_ONE_OF=1 $(PYTHON) -m pytest -m slow --timeout 0 $(SOAK)

spark-matrix: .venv/wheel ## Run the Spark tests and a small `partwright run` on every PySpark: SPARK_VERSIONS="3.5.9 4.3.0"
	@bash tools/spark_matrix.sh $(SPARK_VERSIONS)

setup: .venv/setup ## Install the locked versions into .venv

# The module's panics would contain folders' names; without these, anyone who builds a tag gets the same bytes.
wheel: export RUSTFLAGS := --remap-path-prefix=$(CURDIR)=partwright --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
wheel: ## Build the wheel that is released (fat LTO, minutes) into dist/
wheel: .venv/setup
	$(PYTHON) -m maturin build --profile $(PROFILE) --locked --out dist

lint: .venv/wheel ## Check formatting, lints and types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package partwright-core --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy.stubtest partwright._core
	$(PYTHON) tools/licences.py --check
	@if command -v go >/dev/null; then go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; \
	else echo 'make lint: skipped actionlint, which checks .github: Go was not found on PATH.' >&2; fi

format: .venv/setup ## Format the sources
	cargo fmt --all
	$(PYTHON) -m ruff check --fix --quiet
	$(PYTHON) -m ruff format

# mkdocs-material reads this variable: without it, each build begins with a notice about its successor. With --quiet, a
# build would not count the warnings on which a strict one fails.
docs: .venv/wheel ## Draw the figures of docs/, run its notebook, build its site into target/site
	@$(PYTHON) tools/figures.py
	@$(PYTHON) tools/notebook.py
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build
	@echo 'The site is target/site/index.html: a browser opens it as a file.'

interface: .venv/wheel ## Write docs/reference/interface.md anew: the names, parameters, options and fields of JSON
	$(PYTHON) tools/interface.py >target/interface.md && mv target/interface.md docs/reference/interface.md

golden: .venv/setup ## Write the golden vectors again with the real clients and fail on a difference
	$(PYTHON) tests/reference/generate.py --check

bench: .venv/wheel .venv/bench ## Measure everything together with its rivals into benches/results (20 minutes): PARTS="rust java"
	$(PYTHON) benches/run.py $(PARTS)

instructions: .venv/setup ## Count instructions with callgrind, fail where they grew: UPDATE="why" writes them
	$(PYTHON) tools/instructions.py $(if $(filter command,$(origin UPDATE)),--update "$$UPDATE")

sanitize: .venv/setup ## Run the tests of the unsafe code, and of all columns, under AddressSanitizer
	ASAN_OPTIONS=allocator_may_return_null=1 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --locked --quiet --target $(HOST) --target-dir target/sanitize \
		--package partwright-core --features arrow --lib --test properties

fuzz: .venv/setup ## Look for columns that the core reads wrongly, with libFuzzer: SECONDS=30; needs cargo-fuzz
	RUSTC_BOOTSTRAP=1 cargo fuzz run columns -- -max_total_time=$(SECONDS) -verbosity=0 -print_final_stats=1

# Python coverage also counts the processes that the tests start.
coverage: .venv/wheel ## Count the lines that the fast tests run, into target/coverage; needs cargo-llvm-cov
	@mkdir -p target/coverage
	cargo llvm-cov --workspace --locked --summary-only --output-path target/coverage/rust.txt
	$(PYTHON) -m coverage run -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
	$(PYTHON) -m coverage combine --quiet
	$(PYTHON) -m coverage report --format markdown >target/coverage/python.md
	@tail -n 1 target/coverage/rust.txt target/coverage/python.md

clean: ## Remove what was built and installed
	rm -rf .venv .venv-spark-* target dist

machine:
	@sh tools/setup.sh --check

# The check for what the machine must have runs each time, in a fifth of a second.
.venv/setup: tools/setup.sh pyproject.toml uv.lock Cargo.lock rust-toolchain.toml | machine
	@sh tools/setup.sh
	@touch $@

# The rivals and the packages that draw the pictures; nothing else needs them.
.venv/bench: .venv/setup
	@$(PYTHON) -m uv sync --quiet --locked --inexact --all-extras --group dev --group bench --python $(PYTHON)
	@touch $@

# .venv holds one build. Each of the two removes the stamp of the other, so no command takes one for the other.
.venv/wheel: .venv/setup $(SOURCES)
	@echo 'Building the wheel (minutes on a new machine) ...' >&2
	@rm -rf .venv/try target/wheels
	@$(PYTHON) -m maturin build --quiet --profile dev-wheel --locked --out target/wheels
	@$(PYTHON) -m uv pip install --quiet --python $(PYTHON) --no-deps --reinstall target/wheels/*.whl
	@touch $@

.venv/try: .venv/setup $(SOURCES)
	@rm -rf .venv/wheel target/try
	@$(PYTHON) -m maturin build --quiet --profile edit --locked --compression-method stored --out target/try
	@$(PYTHON) -m uv pip install --quiet --python $(PYTHON) --no-deps --reinstall target/try/*.whl
	@touch $@
