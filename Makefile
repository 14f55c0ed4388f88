# Every target does its own set-up and can be repeated; what is done already is not done again.
BUILD := build
JOBS ?= $(shell nproc)

.PHONY: help setup configure build demo test test-all peers bench format lint docs clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## install the Debian packages that Kiln needs
	@./setup

# Ninja configures again by itself when a CMake file changes; here only the first time, or when the presets change.
$(BUILD)/build.ninja: CMakePresets.json | setup
	cmake --preset default -B $(BUILD)
	@touch $@

configure: $(BUILD)/build.ninja

build: configure ## build everything into build/bin
	@cmake --build $(BUILD) -j $(JOBS)

demo: build ## compile, run, verify and benchmark a matmul
	@bench/demo $(BUILD)

test: build ## run the unit tests and the tests of the tools
	@tests/run --build $(BUILD) --jobs $(JOBS)

test-all: build ## the same, with the tests that take long
	@tests/run --build $(BUILD) --jobs $(JOBS) --slow

# Needs PyPI. The tests that use these packages are skipped where they are not there.
$(BUILD)/peers/installed: python/peers.txt
	python3 -m venv $(BUILD)/peers
	$(BUILD)/peers/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

peers: $(BUILD)/peers/installed ## install the libraries that the lab compares with: oneDNN, MKL, OpenBLAS, ONNX Runtime, IREE

bench: build ## measure what has a bar to meet, and print it beside its bar
	@bench/run --build $(BUILD)

format: setup ## format the C++ sources
	@.ci/sources | xargs -r clang-format-22 -i

lint: build ## check formatting, layout, and what changed with clang-tidy
	@.ci/lint --build $(BUILD) --jobs $(JOBS)

docs: build ## generate docs/generated from the code
	@docs/generate --build $(BUILD)

clean: ## remove the build
	rm -rf $(BUILD)
