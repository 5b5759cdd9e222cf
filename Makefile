# On a fresh Debian machine with git, make and Swift, run `make demo` and `make test`. Continuous integration runs
# `make verify`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := test
.PHONY: demo tests test verify reference reference-check reference-page compare corpus proofs release-proofs proofs-in-brief walks walk-mistakes manifests report-test lint format bench soak block-recorder fuzz sanitize coverage mutants dist install fleet \
  documentation api-check newcomer static-libraries install-deps

# What the build, the demonstration and the tests need: a command or a file, and the Debian package that contains it.
NEEDS := \
  /usr/include/sqlite3.h=libsqlite3-dev \
  /usr/include/zlib.h=zlib1g-dev \
  /usr/include/archive.h=libarchive-dev \
  /usr/include/nettle/sha2.h=nettle-dev \
  /usr/include/yaml.h=libyaml-dev \
  /usr/include/unicode/uregex.h=libicu-dev \
  /usr/include/bzlib.h=libbz2-dev \
  /usr/include/lzma.h=liblzma-dev \
  /usr/include/zstd.h=libzstd-dev \
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

# `make verify` builds a release: in a debug build the argument parser checks its declarations again in each call, which takes
# nine tenths of the time of a short command. Only the modules that Package.swift lists are optimized. One run of the compiler
# writes a module and its code: nothing waits for the module, and a second run would read all sources again.
STORE_MIGRATE_BUILD ?=
verify: export STORE_MIGRATE_BUILD := -c release -Xswiftc -Onone -Xswiftc -enable-testing \
  -Xswiftc -no-emit-module-separately-wmo
verify: export STORE_MIGRATE_OPTIMIZED := 1
BUILD = swift build $(STORE_MIGRATE_BUILD)
SWIFT_FLAGS := --explicit-target-dependency-import-check error
# Their recipes run the debug build.
release-proofs soak coverage sanitize-address sanitize-thread: export STORE_MIGRATE_BUILD :=
BUILD_TESTS = Tests/build-tests $(STORE_MIGRATE_BUILD) $(SWIFT_FLAGS)
# The release links small libraries statically, without the parts that it does not use; a program with fewer shared
# libraries starts faster. The linker takes these archives from a folder of their own, and does not need the order of GNU ld.
STATIC_LIBRARIES := archive bz2 lzma nettle yaml z
STATIC_FOLDER := $(CURDIR)/.build/static
RELEASE := -c release --static-swift-stdlib -Xswiftc -use-ld=lld -Xswiftc -L$(STATIC_FOLDER) \
  -Xlinker --as-needed -Xlinker -lbz2 -Xlinker -llzma -Xlinker -lzstd
# Unlimited parallel tests would exceed the usual limit of open files.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 16
SOURCES := Package.swift Sources Plugins Fixtures Tests

# The seed of every test and proof that draws samples is derived from the commit; 0 without a repository.
ifndef STORE_MIGRATE_SEED
STORE_MIGRATE_SEED := $(shell hash=$$(git rev-parse --verify --quiet HEAD) && printf %d 0x$${hash:0:8} || echo 0)
endif
export STORE_MIGRATE_SEED

demo: static-libraries
	swift build $(RELEASE) --product HabitApp
	Fixtures/HabitCalendar/demo "$$(swift build $(RELEASE) --show-bin-path)"

# Builds the tests, once however many targets of a run need them.
tests: install-deps
	$(BUILD_TESTS)

# For work on a change: the format check, and all suites except those of the tier `verify`.
test: tests
	@echo "Samples are drawn with STORE_MIGRATE_SEED=$(STORE_MIGRATE_SEED)"
	$(MAKE) --no-print-directory lint
	@rm -f $(CORPUS_RECORD) .build/tests-swift-testing.xml
	@status=0; \
	STORE_MIGRATE_CORPUS_RECORD="$(CORPUS_RECORD)" swift test $(STORE_MIGRATE_BUILD) --skip-build --parallel \
	  --xunit-output .build/tests.xml \
	  || status=$$?; \
	$(CLOSING_LINES) || true; exit $$status

CORPUS_RECORD := $(CURDIR)/.build/corpus-used
CLOSING_LINES := Tests/closing-lines .build/tests-swift-testing.xml $(CORPUS_RECORD)

# Before a change lands: all suites, the short proofs, and reports in a browser.
verify: export STORE_MIGRATE_TIER := verify
verify: test reference-check api-check proofs-in-brief walks report-test documentation
	@$(CLOSING_LINES)

# The page of all verbs and options, written from the tool's own help.
REFERENCE := Sources/StoreMigration/StoreMigration.docc/CommandReference.md
reference reference-check: reference-page
reference-page: install-deps
	for product in store-migrate generate-docc-reference; do $(BUILD) --product "$$product"; done
	mkdir -p .build/reference
	folder="$$($(BUILD) --show-bin-path)"; \
	"$$folder/generate-docc-reference" "$$folder/store-migrate" --output-directory .build/reference --style docc
	awk '/^```/ { inside = !inside; if (inside) $$0 = "```text" } { print }' .build/reference/store-migrate.md \
	  >.build/reference/page.md
reference:
	cp .build/reference/page.md $(REFERENCE)
reference-check:
	diff .build/reference/page.md $(REFERENCE) || { echo 'Out of date: make reference' >&2; exit 1; }

# What simple movers and this tool keep and lose in the same stories: one table. MOVERS names a folder of programs.
MOVERS ?= Fixtures/Movers
compare: install-deps
	swift build --product store-migrate
	Tests/compare "$$(swift build --show-bin-path)/store-migrate" $(MOVERS)

# Fetches the public genuine stores, which some tests need, to .build/corpus.
corpus:
	$(call also-needs,git=git)
	Tests/Corpus/fetch .build/corpus

lint:
	swift format lint --strict --parallel --recursive $(SOURCES)
	Tests/words
	Tests/folders

format:
	swift format --in-place --parallel --recursive $(SOURCES)

bench: static-libraries
	@command -v sqldiff >/dev/null || $(MAKE) --no-print-directory install-deps NEEDS="sqldiff=sqlite3-tools"
	swift build $(RELEASE) --product store-migrate
	STORE_MIGRATE_TOOL="$$(swift build $(RELEASE) --show-bin-path)/store-migrate" \
	  swift package --package-path Tests/Benchmarks --allow-writing-to-package-directory benchmark

# Every fault harness with its pass criterion, on the release build, with one page of figures; then each fuzzer for 30 s.
proofs: release-proofs
	$(PROOFS)
	$(MAKE) --no-print-directory fuzz

# The harnesses and judges take most of the time, so they are built for release, too; the known mistakes are in a copy.
release-proofs: static-libraries
	$(BUILD_TESTS)
	Tests/Mistakes/check build
	for product in FaultShim InterleavingShim proofs; do swift build $(RELEASE) --product "$$product"; done
PROOFS = STORE_MIGRATE_TEST_BUILD="$$(swift build --show-bin-path)" "$$(swift build $(RELEASE) --show-bin-path)/proofs"

# The harnesses that take a few minutes at most, on the tool that `make test` built.
proofs-in-brief: tests
	"$$($(BUILD) --show-bin-path)/proofs" random-kills crash-states lost-syncs races live-writers swaps

# Random sequences of commands, different for each commit, and the sequences that once failed.
WALKS ?= 100
walks: tests
	"$$($(BUILD) --show-bin-path)/proofs" lives --walks $(WALKS)

# Applies known mistakes to a copy of the checkout, and prints which of them the walks detect.
walk-mistakes: install-deps
	Tests/Mistakes/check walks

# Checks reports in a browser, which it installs: complete, readable and within the page, wide and narrow, light and
# dark. Leaves pictures in .build/report.
report-test: install-deps
	@command -v $${BROWSER:-chromium} >/dev/null || $(MAKE) --no-print-directory install-deps NEEDS="chromium=chromium"
	$(BUILD) --product store-migrate
	Tests/ReportPages/look "$$($(BUILD) --show-bin-path)/store-migrate" .build/report

# The tests with random interleavings, then the proofs without limits for HOURS; as root on a real machine also on ext4,
# xfs and btrfs, with simulated power cuts.
HOURS ?= 4
soak: export STORE_MIGRATE_TIER := verify
# Each command in a program of its own, as users start it, not forked from a server.
soak: export STORE_MIGRATE_STARTS := exec
soak: release-proofs block-recorder
	STORE_MIGRATE_SOAK=1 STORE_MERGE_ARCHIPELAGOS=25000 swift test --skip-build
	$(PROOFS) --soak --hours $(HOURS)
	$(MAKE) --no-print-directory fuzz SECONDS=600

# The block device that records its writes, beside the proofs program.
BLOCK_NEEDS := /usr/include/fuse3/fuse.h=libfuse3-dev pkg-config=pkgconf mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs \
  mkfs.btrfs=btrfs-progs
block-recorder:
	@PATH="$$PATH:/usr/sbin:/sbin" $(MAKE) --no-print-directory install-deps NEEDS="$(BLOCK_NEEDS)"
	folder="$$(swift build --show-bin-path)"; mkdir -p "$$folder"; \
	cc -std=c11 -O2 -Wall -Wextra -Werror $$(pkg-config --cflags fuse3) Tests/BlockRecorder/block-recorder.c \
	  -o "$$folder/block-recorder" $$(pkg-config --libs fuse3)

# Every reader of untrusted bytes, under libFuzzer: SECONDS for each target, two at a time.
fuzz: install-deps
	Tests/FuzzersProgram/fuzz "$(or $(SECONDS),30)"

# The suites under the address sanitizer, and those with threads under the thread sanitizer, each in a separate build.
# Tests that preload a library into the tool, limit time or memory of other programs, or compile against the build run
# only in `make verify`. One process for each module: the thread sanitizer fails when all suites start at once.
ADDRESS_SUITES := SafeFiles StoreAccess StoreFormat StoreWriting ChangeMerging ChangeRelay StoreBackup StoreFixtures \
  ManagedObjects StoreVerification MergeProbing StoreMigration
THREAD_SUITES := SafeFiles StoreAccess StoreFormat ChangeRelay StoreBackup ManagedObjects StoreVerification MergeProbing StoreMigration

sanitize: sanitize-address sanitize-thread

sanitize-address sanitize-thread: export STORE_MIGRATE_TIER := verify
sanitize-address: export ASAN_OPTIONS := detect_leaks=0
sanitize-thread: export TSAN_OPTIONS := suppressions=$(CURDIR)/Tests/thread-sanitizer

sanitize-%: install-deps
	$(BUILD_TESTS) --sanitize=$* --scratch-path .build/$*
	for suite in $(if $(filter address,$*),$(ADDRESS_SUITES),$(THREAD_SUITES)); do \
	  swift test --skip-build --sanitize=$* --scratch-path .build/$* --filter "$${suite}Tests" \
	    --skip ArchiveLimitsTests $(if $(filter thread,$*),--skip ProcessIdentityTests); \
	done

# The test coverage, by region, of the modules that users' data depends on, in a separate build.
coverage: export STORE_MIGRATE_TIER := verify
coverage: install-deps
	$(BUILD_TESTS) --enable-code-coverage --scratch-path .build/coverage
	Tests/coverage "$$(swift build --show-bin-path --scratch-path .build/coverage)" .build/coverage/profiles \
	  StoreMigration ChangeMerging StoreWriting SafeFiles

# Small mistakes in the modules that users' data depends on, one at a time, and those that no test of the module detects:
# all of SafeFiles, and a sample of MUTANTS of each other module, which SEED draws.
MUTANTS ?= 60
mutants: install-deps
	Tests/Mutants/check
	Tests/Mutants/mutate SafeFiles:0=90 StoreWriting=80 StoreBackup=80 ChangeMerging=90 StoreMigration=90 \
	  --sample $(MUTANTS) --seed $(or $(SEED),$(STORE_MIGRATE_SEED))

# Installs what `make NAME` needs in addition, by the same rule.
also-needs = @$(MAKE) --no-print-directory install-deps NEEDS="$(1)"

# The distribution: a tar archive, a Debian package, their SHA-256, and the tree that `install` copies.
dist: static-libraries
	$(call also-needs,strip=binutils dpkg-shlibdeps=dpkg-dev)
	for product in store-migrate generate-manual; do \
	  swift build $(RELEASE) --product "$$product"; \
	done
	Fixtures/Deployment/dist "$$(swift build $(RELEASE) --show-bin-path)" .build/dist

PREFIX ?= /usr/local
install:
	@[ -d .build/dist/tree ] || { echo 'There is nothing to install yet: make dist' >&2; exit 1; }
	mkdir -p "$(DESTDIR)$(PREFIX)"
	cp -R --preserve=mode,timestamps --no-target-directory .build/dist/tree "$(DESTDIR)$(PREFIX)"

# Shares STORES small stores with GNU parallel and with Slurm, kills both during the run, and runs them again.
STORES ?= 1000
fleet: static-libraries
	$(call also-needs,parallel=parallel ps=procps munged=munge slurmctld=slurmctld slurmd=slurmd sbatch=slurm-client)
	swift build $(RELEASE) --product store-migrate
	tool="$$(swift build $(RELEASE) --show-bin-path)/store-migrate"; \
	  Tests/Fleet/fleet "$$tool" $(STORES) 2 && Tests/Fleet/slurm "$$tool" $(STORES)

# Checks the Kubernetes manifests against the schemas of its API.
manifests:
	$(call also-needs,/usr/share/doc/python3-venv=python3-venv python3=python3)
	[ -x .build/manifests/bin/kubernetes-validate ] || \
	  { python3 -m venv .build/manifests && .build/manifests/bin/pip install --quiet kubernetes-validate; }
	.build/manifests/bin/kubernetes-validate --strict Fixtures/Deployment/init-container.yaml Fixtures/Deployment/share-fleet-job.yaml

# The documentation of every public module; warnings are errors.
documentation: install-deps
	$(call also-needs,jq=jq)
	$(INTERFACE) graphs .build/symbol-graphs -emit-extension-block-symbols
	rm -rf .build/documentation
	mkdir -p .build/documentation
	$(INTERFACE) modules | xargs -P "$$(nproc)" -I MODULE $(SHELL) $(.SHELLFLAGS) 'docc convert \
	  $$(ls -d Sources/MODULE/*.docc 2>/dev/null) --additional-symbol-graph-dir .build/symbol-graphs/MODULE \
	  --fallback-display-name MODULE --fallback-bundle-identifier MODULE --warnings-as-errors \
	  --output-path .build/documentation/MODULE.doccarchive | sed "/^$$/d"'

# Lists the changes of public symbols since the last release, or since BASE, that break a caller and that the changelog does
# not name. A release writes its list: Tests/PublicInterface/check list > Tests/PublicInterface/VERSION.txt
INTERFACE := Tests/PublicInterface/check
api-check: install-deps
	$(call also-needs,jq=jq)
	mkdir -p .build/interface
	diff <($(INTERFACE) modules) <(sed -n 's/^ *- \([A-Z][A-Za-z]*\)$$/\1/p' .spi.yml | sort) || \
	  { echo 'The modules to document in .spi.yml are not those of the library products.' >&2; exit 1; }
	$(INTERFACE) list >.build/interface/now.txt
	$(if $(BASE),$(INTERFACE) base "$(BASE)" >.build/interface/base.txt)
	$(INTERFACE) breaks $(if $(BASE),.build/interface/base.txt,$(lastword $(sort $(wildcard Tests/PublicInterface/*.txt)))) .build/interface/now.txt .github/CHANGELOG.md

# Follows the README on a fresh Debian, as root: NEWCOMER="demo test" runs both of its commands.
NEWCOMER ?= demo
newcomer:
	$(call also-needs,debootstrap=debootstrap unshare=util-linux)
	Tests/Newcomer/newcomer .build/newcomer "$(NEWCOMER)"

# Uses the network only when something is missing.
static-libraries: install-deps
	@mkdir -p $(STATIC_FOLDER)
	@for name in $(STATIC_LIBRARIES); do \
	  ln -sf "$$(cc -print-file-name="lib$$name.a")" $(STATIC_FOLDER)/; \
	done

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
