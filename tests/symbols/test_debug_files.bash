#!/usr/bin/env bash
# Names from debug files apart from the program, by the report of a real recording: test_debug_files.bash CASE BUILD
set -u
case=$1
winnow=$2/src/cli/winnow
work=$(mktemp -d)
server=
trap 'cd /; [ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "FAILED: $case: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
need() { command -v "$1" >/dev/null || skip "there is no $1"; }

# The function that allocates is static: without symbols nobody knows its name.
source_of() { # NAME
  cat <<END
#include <stdlib.h>
void *volatile kept;
static __attribute__((noinline)) void $1(void) { for (int i = 0; i < 100; i++) kept = malloc(1000); }
int main(void) { $1(); return 0; }
END
}

compile() { # NAME FUNCTION [OPTION...]
  source_of "$2" >"$1.c"
  cc -O1 -g -fno-builtin "${@:3}" -o "$1" "$1.c" || skip "no compiler"
}

build_id_of() { readelf -n "$1" | sed -n 's/.*Build ID: *//p'; }

record() { "$winnow" record -q --rate 1 -o trace -- "$1" || fail "$1 ended with $?"; }

names() { # [OPTION...]: functions that allocated at least what ours did
  "$winnow" report --json --where 'size = 1000' "$@" trace >report.json || fail "no report: $*"
  jq -r '.sites[].name' report.json
}

known() { # FUNCTION [OPTION...]
  local function=$1
  shift
  names "$@" | grep -Fqx "$function" || fail "$function is not known with '$*': $(names "$@" | tr '\n' ' ')"
}

unknown() { # FUNCTION [OPTION...]
  local function=$1
  shift
  ! names "$@" | grep -Fqx "$function" || fail "$function is known with '$*'"
}

has_line() { # FUNCTION [OPTION...]
  local function=$1
  shift
  known "$function" "$@"
  known "$function (program.c:3)" --by line "$@"
}

apart() { # PROGRAM: moves its debug information into PROGRAM.apart, a name that nobody guesses
  objcopy --only-keep-debug "$1" "$1.apart" && strip -s "$1" || fail "cannot strip"
}

in_build_id_folder() { # PROGRAM DEBUG-FILE FOLDER
  local id
  id=$(build_id_of "$1")
  mkdir -p "$3/.build-id/${id:0:2}"
  cp "$2" "$3/.build-id/${id:0:2}/${id:2}.debug"
}

# A unit's size is read where the unit begins. Clang's bytes behind the head of a unit of DWARF 4 look like that of a tiny one.
units_of_any_content_have_lines() {
  local i
  need clang
  {
    printf '#include <stdlib.h>\nvoid *volatile kept;\n'
    for i in 1 2 3 4 5 6 7 8 9; do echo "static __attribute__((noinline)) void f$i(void) { kept = malloc(1000); }"; done
    echo "int main(void) { $(printf 'f%d(); ' 1 2 3 4 5 6 7 8 9)}"
  } >program.c
  clang -gdwarf-4 -O1 -fno-builtin -o program program.c || fail "not compiled"
  record ./program
  for i in 1 2 3 4 5 6 7 8 9; do known "f$i (program.c:$((i + 2)))" --by line --top 100; done
}

# Of gcc, clang and Go only gcc writes the table of ranges; its units may lie on both sides of another compiler's.
units_that_are_not_in_the_table_of_ranges_have_lines() {
  source_of hidden_function | sed 's/^int main/int middle/' >program.c
  echo 'int middle(void); int main(void) { return middle(); }' >first.c
  echo 'int last(void) { return 0; }' >last.c
  cc -O1 -g -fno-builtin -fno-optimize-sibling-calls -c first.c program.c last.c || skip "no compiler"
  objcopy -R .debug_aranges -R .rela.debug_aranges program.o || fail "nothing was removed"
  cc -o program first.o program.o last.o || fail "not linked"
  record ./program
  has_line hidden_function
}

stripped_programs_have_no_names() {
  compile program hidden_function
  record ./program
  has_line hidden_function
  apart program
  record ./program
  unknown hidden_function
}

a_file_is_found_by_build_id() {
  compile program hidden_function -Wl,--build-id
  apart program
  record ./program
  in_build_id_folder program program.apart folder
  unknown hidden_function
  has_line hidden_function --search folder
}

a_file_is_found_by_debug_link() {
  compile program hidden_function
  apart program
  objcopy --add-gnu-debuglink=program.apart program
  record ./program
  has_line hidden_function
  mkdir .debug
  mv program.apart .debug
  has_line hidden_function
  rm .debug/program.apart
  unknown hidden_function
}

# In the right place, but of another build.
# A file without a build-id is known by its code, also once it is stripped or copied.
a_program_that_was_built_anew_gives_no_names() {
  compile program ours -Wl,--build-id=none
  [ -z "$(build_id_of program)" ] || skip "the linker adds a build-id"
  cp program first
  record ./program
  known ours
  touch -d 2001-01-01 program
  known ours
  strip -s program || fail "cannot strip"
  unknown ours
  ! grep -q 'not the version' <("$winnow" report --all trace 2>&1) || fail "a stripped file is not taken for the program"
  mkdir -p found && cp first found/program
  known ours --search found
  compile program another -Wl,--build-id=none
  sed -i 's/1000); }/1000), kept = malloc(500); }/' program.c
  cc -O1 -g -fno-builtin -Wl,--build-id=none -o program program.c || skip "no compiler"
  unknown another
  unknown ours
  "$winnow" report --all trace >said 2>&1
  tr '\n' ' ' <said | grep -q 'program is not the version that was recorded' || fail "nobody says that the program is another: $(cat said)"
  compile program ours
  unknown ours # one with a build-id is another, too
  known ours --search found
}

wrong_files_are_refused() {
  compile program hidden_function -Wl,--build-id
  compile other other_function -Wl,--build-id
  apart program
  apart other
  record ./program
  in_build_id_folder program other.apart folder
  unknown other_function --search folder
  unknown hidden_function --search folder
  objcopy --add-gnu-debuglink=program.apart program
  cp other.apart program.apart
  record ./program
  unknown other_function
  unknown hidden_function
}

# What Fedora ships: the table of symbols alone, compressed.
a_compressed_table_inside_gives_names() {
  need xz
  compile program hidden_function
  nm program --format=posix --defined-only | awk '$2 == "t" || $2 == "T" { print $1 }' >functions
  objcopy --only-keep-debug program debug
  objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=functions debug mini
  xz -f mini
  strip -s program
  objcopy --add-section .gnu_debugdata=mini.xz program
  record ./program
  known hidden_function
}

servers_are_asked_when_it_is_wished() {
  need python3
  compile program hidden_function -Wl,--build-id
  local id
  id=$(build_id_of program)
  apart program
  mkdir -p "served/buildid/$id"
  cp program.apart "served/buildid/$id/debuginfo"
  record ./program
  python3 -u -m http.server --bind 127.0.0.1 --directory served 0 >server.out 2>requests &
  server=$!
  local port=
  for _ in $(seq 100); do
    port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.out)
    [ -n "$port" ] && break
    sleep 0.1
  done
  [ -n "$port" ] || fail "no server: $(cat server.out requests)"
  export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/cache DEBUGINFOD_TIMEOUT=10
  unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
  unknown hidden_function
  [ ! -s requests ] || fail "a server was asked unasked: $(cat requests)"
  names --debuginfod >/dev/null
  [ -s requests ] || skip "this libdw asks no servers"
  has_line hidden_function --debuginfod
}

# All that a report says of the blocks of our size.
rows() { "$winnow" report --json --by line --where 'size = 1000' trace | jq -c '.sites[].name'; }

compressed_sections_are_read() {
  local how
  for how in zstd zlib; do
    compile program hidden_function -Wl,--build-id
    objcopy --compress-debug-sections=$how program 2>/dev/null || skip "this objcopy does not know $how"
    record ./program
    has_line hidden_function
    apart program
    objcopy --compress-debug-sections=$how program.apart
    in_build_id_folder program program.apart folder
    has_line hidden_function --search folder
  done
}

# Where a section is a bomb, or damaged, the report lacks that section, and takes no memory for it: a file in memory is a file to ulimit.
bombs_are_not_expanded() {
  compile program hidden_function -gsplit-dwarf
  truncate -s 300M zeros
  objcopy --update-section .debug_str=zeros program 2>/dev/null && objcopy --compress-debug-sections=zstd program 2>/dev/null ||
    skip "this objcopy cannot make one"
  [ "$(stat -c %s program)" -lt 1000000 ] || fail "no bomb"
  record ./program
  (ulimit -f 60000; "$winnow" report --by line trace >out 2>err) || fail "a program: $(cat out err)"
  compile program hidden_function -gsplit-dwarf
  objcopy --update-section .debug_str.dwo=zeros ./*.dwo && objcopy --compress-debug-sections=zstd ./*.dwo
  [ "$(stat -c %s ./*.dwo)" -lt 1000000 ] || fail "no bomb"
  record ./program
  (ulimit -f 60000; "$winnow" report --by line trace >out 2>err) || fail "a .dwo: $(cat out err)"
  has_line hidden_function # by the skeleton
  compile program hidden_function
  objcopy --compress-debug-sections=zstd program
  local at
  at=$(readelf -SW program | sed -n 's/.*\.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
  printf '\377\377\377\377' | dd of=program bs=1 seek=$((0x$at + 24)) conv=notrunc status=none # the frame's mark
  record ./program
  known hidden_function # by the table
}

# Entries in entries, more than a stack has room for; and entries that share a long list of ranges, which would be 60 million. The unit
# covers all of the program.
endless_units_take_no_memory() {
  cat >unit.s <<'END'
.section .debug_abbrev
  .uleb128 1, 0x11; .byte 1; .uleb128 0x11, 1, 0x12, 1, 0, 0
  .uleb128 2, 0x0b; .byte 1; .uleb128 0, 0
  .uleb128 3, 0x2e; .byte 0; .uleb128 0x55, 0x17, 0, 0
  .byte 0
.section .debug_info
  .long end - begin
begin:
  .value 4; .long .debug_abbrev; .byte 8
  .uleb128 1; .quad main - 4096; .quad main + 4096
  .rept 7750; .uleb128 3; .long 0; .endr
  .fill 500000, 1, 2
end:
.section .debug_ranges
  .rept 7750; .quad 0x10; .quad 0x20; .endr
  .quad 0, 0
END
  source_of hidden_function >program.c
  cc -O1 -fno-builtin -z noexecstack -o program program.c unit.s || skip "no compiler"
  record ./program
  (ulimit -v 1500000; names >/dev/null) || fail "no report"
}

# A function in a function in a class, with ranges, and two parts of the program's code.
make_inlined() { # COMPILER OPTION...
  cat >inlined.cpp <<'END'
#include <cstdlib>
namespace shop { struct Cart {
  template <int N> __attribute__((always_inline)) void *fill(int n) {
    if (n & 1) return malloc(1000);
    return malloc(1000);
  }
}; }
void *volatile kept;
__attribute__((noinline)) static void cold(shop::Cart &c, int i) { kept = c.fill<1>(i); kept = c.fill<2>(i + 1); }
__attribute__((noinline APART)) void other(int i) { shop::Cart c; kept = c.fill<3>(i); }
int main(int n, char **) { shop::Cart c; for (int i = 0; i < 100; i++) { cold(c, i); other(i); } }
END
  rm -f ./*.dwo ./*.dwp
  "$1" -O2 -fno-builtin -g "${@:2}" -o inlined inlined.cpp || skip "no $1"
}

# A unit of several parts has no base address, one of a single part has one.
split_units_say_what_whole_ones_say() {
  compare_split "-DAPART=,section(\".text.other\")"
  compare_split -DAPART= -O1
}

compare_split() { # OPTION...
  local compiler version
  for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    for version in 4 5; do
      make_inlined $compiler "$@" -gdwarf-$version
      record ./inlined
      rows >whole
      grep -q 'Cart::fill<3>' whole || fail "nothing to compare: $(cat whole)"
      make_inlined $compiler "$@" -gdwarf-$version -gsplit-dwarf
      record ./inlined
      rows >split
      objcopy --compress-debug-sections=zstd ./*.dwo 2>/dev/null && rows >compressed || cp split compressed
      make_inlined $compiler "$@" -gdwarf-$version -gsplit-dwarf -fdebug-types-section
      record ./inlined
      rows >types
      if [ $compiler = g++ ] && [ $version = 4 ] && dwp -e inlined -o inlined.dwp; then
        rm ./*.dwo
        rows >package
      else
        cp whole package
      fi
      for form in split compressed types package; do
        diff whole $form >difference || fail "$compiler, DWARF $version, $form: $(cat difference)"
      done
    done
  done
}

a_missing_split_file_leaves_the_lines() {
  local file
  compile program hidden_function -gsplit-dwarf
  mkdir moved
  file=$(echo ./*.dwo)
  mv ./*.dwo moved
  record ./program
  has_line hidden_function
  has_line hidden_function --search moved
  compile other other_function -gsplit-dwarf
  mv ./other*.dwo "$file"
  has_line hidden_function # not that of another unit
  rm ./*.dwo
  mkfifo "$file"
  timeout -s KILL 60 "$winnow" report trace >/dev/null || fail "it waits for a pipe"
  rm "$file"
  printf '\177ELF\2\1\1' >"$file"
  has_line hidden_function
}

need cc
need jq
need objcopy
[ "$(type -t "$case")" = function ] || fail "there is no such case"
"$case"
echo "passed: $case"
