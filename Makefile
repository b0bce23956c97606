# The commands people need. Everything else is CMake: see CMakePresets.json.
.PHONY: all deps demo test fleet-demo models soak bench bench-quick bench-heap install uninstall package dist clean help
.DEFAULT_GOAL := help
SHIPPED = winnow winnow-malloc winnow-heap winnow-heap-checks winnow-heap-static winnow-heap-checks-static

help:
	@echo "make demo     install what is needed, build, record a small server that leaks, print where its memory went"
	@echo "make deps     install the packages that building needs"
	@echo "make all      build what is shipped and the examples in build/release"
	@echo "make test     install what is needed, build, run the whole test suite"
	@echo "make fleet-demo  install ClickHouse, start two servers of it for a made-up fleet, ask them, end them"
	@echo "make bench    compare with other profilers and other collected heaps, side by side (long)"
	@echo "              (make bench-heap: the heaps alone; make bench-quick: the profilers alone, in fewer rounds)"
	@echo "make models   search all models of protocols, and note in tests/models/passed what was searched"
	@echo "make soak     the tests that take long (random programs under sanitizers: SOAK_SECONDS=... to change an hour)"
	@echo "make install  install to /usr/local (PREFIX=... to change); make uninstall removes that again"
	@echo "make package  build Debian packages: build/release/*.deb"
	@echo "make dist     make a source archive of the last commit: build/winnow-VERSION.tar.gz"
	@echo "make clean    remove all that was built"

deps:
	@scripts/install-dependencies build

all:
	@scripts/install-dependencies --check build
	@scripts/build release $(SHIPPED) examples

demo:
	@scripts/demo

# Two more at once than there are processors: tests wait for a browser, for a server and for a disk.
test:
	@scripts/install-dependencies test
	@scripts/build dev
	@scripts/run-tests dev -j $$(($$(nproc) + 2)) -LE soak

fleet-demo:
	@scripts/install-dependencies fleet
	@scripts/build dev winnow make_fleet
	@scripts/fleet-demo

models:
	@scripts/install-dependencies test
	@scripts/build dev src/all
	@rm -f build/models-passed
	@WINNOW_MODELS=always WINNOW_MODELS_PASSED=$(CURDIR)/build/models-passed \
	  ctest --test-dir build/dev --output-on-failure -j $$(nproc) -L models
	@LC_ALL=C sort build/models-passed >tests/models/passed

SOAK_SECONDS ?= 3600
soak:
	@scripts/install-dependencies test
	@scripts/build dev
	@WINNOW_MODELS=always ctest --test-dir build/dev --output-on-failure -j $$(nproc) -L 'soak|models'
	@scripts/build asan
	@ctest --test-dir build/asan --output-on-failure -j $$(nproc) -L all_runs
	@scripts/build tiny
	@ctest --test-dir build/tiny --output-on-failure -j $$(nproc) -L no_tables
	@scripts/build tsan threads
	@TEST_ALL_CASES=1 ctest --test-dir build/tsan --output-on-failure -j $$(nproc) -L threads -LE soak
	@scripts/soak-sanitizers $(SOAK_SECONDS)

bench:
	@scripts/install-dependencies bench
	@scripts/build release winnow winnow-malloc bench_trees bench_storm bench_forward bench_gap bench_capture bench_trace_writer
	@bench/run
	@$(MAKE) --no-print-directory bench-heap

bench-heap:
	@scripts/install-dependencies bench
	@scripts/build release bench_heap
	@bench/heap/run

bench-quick:
	@scripts/install-dependencies bench
	@scripts/build release winnow winnow-malloc bench_trees bench_storm bench_forward
	@bench/run --runs 3

PREFIX ?= /usr/local
install:
	@scripts/install-dependencies --check build
	@PREFIX=$(PREFIX) scripts/build release $(SHIPPED)
	@cmake --install build/release --prefix $(PREFIX)

# What the last `make install` of this folder installed.
uninstall:
	@[ -f build/release/install_manifest.txt ] || { echo "uninstall: nothing was installed from here" >&2; exit 1; }
	@xargs -d '\n' rm -f <build/release/install_manifest.txt
	@rm build/release/install_manifest.txt

VERSION = $(shell awk '/^.define WN_VERSION_(MAJOR|MINOR|PATCH) /{printf "%s%s", dot, $$3; dot = "."}' include/winnow/version.h)
dist:
	@mkdir -p build
	@git archive --prefix=winnow-$(VERSION)/ -o build/winnow-$(VERSION).tar.gz HEAD
	@echo "Wrote build/winnow-$(VERSION).tar.gz"

package:
	@scripts/install-dependencies package
	@PREFIX=/usr scripts/build release $(SHIPPED)
	@rm -f build/release/*.deb
	@cd build/release && cpack >../package.log 2>&1 || { cat ../package.log >&2; exit 1; }
	@ls build/release/*.deb | sed 's/^/Wrote /'

clean:
	rm -rf build
