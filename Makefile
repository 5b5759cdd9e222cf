# The two commands of a fresh Debian machine with git, make and Swift: `make demo` and `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := test
.PHONY: demo test proofs lint format bench soak install-deps

# What the build, the demonstration and the tests need: a command or a file, and the Debian package that brings it.
NEEDS := \
  /usr/include/sqlite3.h=libsqlite3-dev \
  /usr/include/zlib.h=zlib1g-dev \
  /usr/include/archive.h=libarchive-dev \
  /usr/include/stdlib.h=libc6-dev \
  /usr/include/c++=g++ \
  sqlite3=sqlite3 \
  bsdtar=libarchive-tools \
  zstd=zstd \
  unzip=unzip \
  perl=perl-base \
  setpriv=util-linux \
  script=bsdutils \
  strace=strace

SWIFT_FLAGS := --explicit-target-dependency-import-check error
SOURCES := Package.swift Sources Plugins Fixtures Tests

demo: install-deps
	for product in store-migrate HabitApp HabitWidget; do \
	  swift build -c release --static-swift-stdlib --product "$$product"; \
	done
	Fixtures/HabitCalendar/demo "$$(swift build -c release --static-swift-stdlib --show-bin-path)"

test: install-deps
	swift build --build-tests $(SWIFT_FLAGS)
	swift test --skip-build --parallel
	$(MAKE) --no-print-directory lint

lint:
	swift format lint --strict --parallel --recursive $(SOURCES)

format:
	swift format --in-place --parallel --recursive $(SOURCES)

bench: install-deps
	@command -v sqldiff >/dev/null || $(MAKE) --no-print-directory install-deps NEEDS="sqldiff=sqlite3-tools"
	swift build -c release --static-swift-stdlib --product store-migrate
	STORE_MIGRATE_TOOL="$$(swift build -c release --static-swift-stdlib --show-bin-path)/store-migrate" \
	  swift package --package-path Tests/Benchmarks --allow-writing-to-package-directory benchmark

# Every harness at its gate, over the tool as it is shipped, and one page of figures.
proofs: install-deps
	swift build --build-tests $(SWIFT_FLAGS)
	swift build -c release --static-swift-stdlib --product store-migrate
	STORE_MIGRATE_TOOL="$$(swift build -c release --static-swift-stdlib --show-bin-path)/store-migrate" \
	  "$$(swift build --show-bin-path)/proofs"

# The same without bounds, for so many hours, after the tests whose interleaving is left to chance.
HOURS ?= 4
soak: install-deps
	swift build --build-tests $(SWIFT_FLAGS)
	STORE_MIGRATE_SOAK=1 STORE_MERGE_ARCHIPELAGOS=25000 swift test --skip-build
	swift build -c release --static-swift-stdlib --product store-migrate
	STORE_MIGRATE_TOOL="$$(swift build -c release --static-swift-stdlib --show-bin-path)/store-migrate" \
	  "$$(swift build --show-bin-path)/proofs" --soak --hours $(HOURS)

# Asks the network only when something is missing.
install-deps:
	@missing=(); \
	for need in $(NEEDS); do \
	  what="$${need%%=*}"; \
	  [ -e "$$what" ] || command -v "$$what" >/dev/null || missing+=("$${need#*=}"); \
	done; \
	[ "$${#missing[@]}" -gt 0 ] || exit 0; \
	echo "installing: $${missing[*]}"; \
	sudo=(); [ "$$(id -u)" = 0 ] || sudo=(sudo); \
	"$${sudo[@]}" apt-get update; \
	"$${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$${missing[@]}"
