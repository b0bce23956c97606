# Programs in other languages: the rows are the functions that their programmers wrote. Sourced by run.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

# The rows of the functions that match an extended regular expression are these, after a command of sed.
rows_are() { # WHAT PATTERN SED-COMMANDS EXPECTED...
  local what=$1 pattern=$2 commands=$3
  shift 3
  COLUMNS=160 succeeds report --all --top 1000 t
  sed -En '/^Allocated over/,/^$/ { s/^ +[0-9.]+ [kM]?B +[0-9.]+ % +[0-9,]+ +([0-9.]+ [a-z]+|to end|)  +//; T; s/  .*//; p }' out |
    grep -E "$pattern" | sed -E "$commands" | sort -u >rows
  printf '%s\n' "$@" | sort -u | diff - rows >difference || fail "$what: $(cat difference)"
}

functions_of_rust_have_rows() {
  local rustc flags
  need_recording
  rustc=$(command -v rustc || ls ~/.cargo/bin/rustc 2>/dev/null) || skip "there is no rustc"
  cp "$source/tests/cli/programs/languages/shop.rs" .
  # Names by both manglings; in those of the older one arguments and closures have no more than a mark.
  for flags in '-g' '-O' '-O -g -C symbol-mangling-version=v0' '-O -C symbol-mangling-version=v0'; do
    # shellcheck disable=SC2086
    "$rustc" $flags -o shop shop.rs >why 2>&1 || skip "rustc builds nothing: $(tail -n 1 why)"
    run record -q --rate 1 -o t ./shop
    local closure=('shop::main::{closure}')
    [[ $flags = *-g* ]] || closure=(shop::apply)
    rows_are "rustc $flags" '::' \
      's/^<(shop::[A-Za-z]+)>::/\1::/; s/[{]+closure(#[0-9])?[}]+/{closure}/; s/Ring<(_|300)>/Ring/; s/::<[^ ]*>$//; /^std::rt::/d;
      s/^.*for alloc::string::String>::from$|^<alloc::string::String as .*>::from$/String::from/' \
      shop::main shop::Index::add shop::Index::copy_lines shop::Log::append shop::leak_cycle shop::boxes shop::sorted \
      shop::unique shop::read shop::generic '<shop::Square as shop::Shape>::outline' '<shop::Square as shop::Shape>::name' \
      '<shop::Ring as shop::Shape>::outline' '<shop::Ring as shop::Shape>::name' '<shop::Order as core::fmt::Display>::fmt' \
      '<shop::Order as core::clone::Clone>::clone' '<shop::Order as core::iter::traits::iterator::Iterator>::next' String::from "${closure[@]}"
  done
}

functions_of_cxx_have_rows() {
  local flags
  need_recording
  need g++
  need jq
  for flags in '-O0 -g' '-O2 -g' '-O2'; do
    # shellcheck disable=SC2086
    g++ -std=c++17 $flags -o shop "$source/tests/cli/programs/languages/shop.cpp" || fail "g++ $flags"
    run record -q --rate 1 -o t ./shop
    local lambda='main::{lambda#1}::operator()' # inlined into the function that calls it
    [ "$flags" != -O2 ] || lambda='shop::Pool<shop::Item>::each<main::{lambda#1}>(main::{lambda#1})'
    rows_are "g++ $flags" '::|^main$' 's/keeper[(][)]/keeper/; s/lambda[(][^)]*[)]/lambda/g; s/operator.*/operator()/' \
      main 'shop::Pool<shop::Item>::make(int)' 'shop::Pool<shop::Item>::raw(int)' 'shop::share(int)' 'shop::closure(int)' \
      'shop::price(std::map<std::string, std::vector<std::pair<int, double>>>&, std::string const&, int)' \
      'shop::fill(std::unordered_map<std::string, std::vector<std::pair<std::string, int>>>&)' 'shop::describe(int)' \
      'shop::sort_them(std::vector<int>&)' 'shop::texts(std::vector<int> const&, std::vector<std::string>&)' \
      'shop::Square::outline() const' "$lambda" 'keeper::{lambda#1}::operator()'
  done
  # A query and --wrapper take the name of the table; JSON has the whole one.
  local name='shop::sort_them(std::vector<int>&)' whole='shop::sort_them(std::vector<int, std::allocator<int>>&)'
  succeeds report --json --sort self --where "fn = \"$name\"" t
  [ "$(jq -r '.allocated[0] | select(.self_bytes.estimate > 0).name' out)" = "$whole" ] || fail "a query: $(head -c 400 out)"
  succeeds report --json --wrapper "$name" t
  jq -r '.wrappers[]' out | grep -Fxq "$whole" || fail "--wrapper: $(jq -c .wrappers out)"
}

procedures_of_fortran_have_rows() {
  local flags
  need_recording
  need gfortran
  cp "$source/tests/cli/programs/languages/fields.f90" .
  for flags in '-O0 -g' '-O0' '-O2 -fno-inline' '-static-libgfortran'; do
    # shellcheck disable=SC2086
    gfortran $flags -o fields fields.f90 >why 2>&1 || skip "gfortran builds nothing: $(tail -n 1 why)"
    run record -q --rate 1 -o t ./fields
    rows_are "gfortran $flags" '::|MAIN|^inner|gfortran|unit|stream' '' MAIN__ fields::make_grid fields::refine fields::push \
      fields::label fields::clone inner files::read_line
  done
}

functions_of_go_have_rows_for_what_they_take_from_c() {
  local flags
  need_recording
  need go
  cp "$source/tests/cli/programs/languages/calls.go" .
  for flags in '' -w; do
    GOCACHE=$PWD/cache GOFLAGS=-mod=mod CGO_ENABLED=1 go build -ldflags="$flags" -o calls calls.go >why 2>&1 ||
      skip "go builds no program with C code: $(tail -n 1 why)"
    run record -q --rate 1 -o t ./calls
    rows_are "go $flags" 'main|push|[Cc]go' '/^x_cgo_/d' push 'main.(*list).add' main.leak main.table
  done
}

# As on a machine without debug files: what the C library calls main and threads from has no names there.
lines_of_python_have_rows_without_names_of_libc() {
  local python=/usr/bin/python3 unnamed
  need_recording
  need_many_blocks
  need jq
  $python -c 'import sys, ctypes; assert sys.version_info >= (3, 9)' 2>why || skip "there is no $python of 3.9 or later with ctypes"
  mkdir lib
  strip -s -R .note.gnu.build-id -R .gnu_debuglink -o lib/libc.so.6 "$(cc -print-file-name=libc.so.6)" || skip "strip cannot copy libc"
  cat >keeps.py <<'PY'
import ctypes, threading
copy = ctypes.CDLL(None).strdup
def keep(): return [copy(b"x" * 4000) for _ in range(500)]
def work(): held.append([copy(b"y" * 4000) for _ in range(500)])
held = keep()
thread = threading.Thread(target=work)
thread.start()
thread.join()
PY
  LD_LIBRARY_PATH=$PWD/lib $python -c 'import ctypes, threading' 2>why || skip "no program runs with that file"
  run record -q --rate 1 -o t env LD_LIBRARY_PATH="$PWD/lib" $python keeps.py
  succeeds report --json --where 'size = 4001' t
  unnamed=$(jq -r '[.. | .name? // empty | strings | select(test("libc[+]|ffi|ctypes"))] | unique[]' out)
  [ -z "$unnamed" ] || fail "$unnamed"
  [ "$(jq -r '[.allocated[] | select(.self_bytes.estimate > 1e6) | .name | sub("[.].*"; "")] | sort | join(" ")' out)" = 'keep work' ] ||
    fail "$(head -c 900 out)"
  [ "$(jq '[.allocated[].name] | index("start_thread") and index("__libc_start_call_main")' out)" = true ] || fail "no beginnings"
}

threads_of_cxx_begin_at_functions_with_names() {
  need_recording
  need g++
  need jq
  cat >threads.cpp <<'CXX'
#include <cstdlib>
#include <thread>
void *kept[2000];
void work() { for (void *&each : kept) each = std::malloc(3000); }
int main() { std::thread(work).join(); }
CXX
  g++ -O0 -pthread -o threads threads.cpp || fail "not compiled"
  run record -q --rate 1 -o t ./threads
  succeeds report --json --where 'size = 3000' t
  [ "$(jq -r '[.allocated[].name | select(test("[+]0x"))] | unique[]' out)" = '' ] || fail "$(jq -c '[.allocated[].name]' out)"
  [ "$(jq '[.allocated[].name] | index("execute_native_thread_routine") and index("work()")' out)" = true ] || fail "$(jq -c '[.allocated[].name]' out)"
  COLUMNS=300 succeeds report --where 'size = 3000' t
  says ' work[(][)] +< '
  grep -E 'libstdc|start_thread|execute_native' out && fail "a beginning is a caller"
  true
}
