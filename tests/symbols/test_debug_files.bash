#!/usr/bin/env bash
# Names from debug files apart from the program, by the report of a real recording: test_debug_files.bash CASE BUILD
set -u
case=$1
here=$(cd "$(dirname "$0")" && pwd)
winnow=$(realpath "$2")/src/cli/winnow
work=$(mktemp -d)
server=
trap 'cd /; [ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work" || exit 1
export DEBUGINFOD_URLS=

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
  "$winnow" report --json --top 100 --where 'size = 1000' "$@" trace >report.json || fail "no report: $*"
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

# ---- files of any name ----

a_search_folder_has_files_anywhere() {
  compile program hidden_function -Wl,--build-id
  apart program
  record ./program
  mkdir -p folder/deep/deeper empty
  cp program.apart folder/deep/deeper/42
  cp program folder/deep/program.debug # stripped: the one above has more
  compile other other_function -Wl,--build-id
  cp other folder/deep/program.apart
  has_line hidden_function --search empty --search folder
  unknown other_function --search folder
  mv program gone
  has_line hidden_function --search folder
  ln -s ../.. folder/deep/circle
  mkfifo folder/deep/pipe
  timeout -s KILL 60 "$winnow" report --search folder trace >out 2>&1 && grep -q hidden_function out || fail "$(cat out)"
}

a_search_folder_is_not_searched_without_end() {
  local folder=folder/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16
  compile program hidden_function -Wl,--build-id
  apart program
  record ./program
  mkdir -p $folder
  cp program.apart $folder
  names --search folder 2>err >found
  ! grep -qx hidden_function found || fail "it looks deeper than it says"
  [ "$(wc -l <err)" = 1 ] && grep -q 'winnow: --search: only the first 100000 files were looked at, 16 folders deep' err || fail "$(cat err)"
  mv $folder/program.apart folder/1
  rm -r folder/1/2/3
  names --search folder 2>err >found
  grep -qx hidden_function found && [ ! -s err ] || fail "$(cat err)"
}

# What dwz puts into a supplement: here the method of a class that both libraries have, and its name with it.
make_supplement() {
  local name
  need dwz
  cat >common.hpp <<'END'
#include <cstdlib>
namespace common { struct Pool { int member_with_a_long_name, another_member_with_a_long_name; double third_of_the_members;
  __attribute__((always_inline)) void *take(int count) { third_of_the_members += count; return malloc(1000); }
  void other_function_of_pool(int a, double b); void one_more_function_of_pool(int a, double b); }; }
END
  for name in one two; do
    printf '#include "common.hpp"\nvoid *volatile kept;\n__attribute__((noinline)) static void in_%s() { common::Pool pool = {}; for (int i = 0; i < 100; i++) kept = pool.take(i); kept = &pool; }\nextern "C" void call_%s(void) { in_%s(); }\n' \
      $name $name $name >$name.cpp
    g++ -O1 -g -fno-builtin -shared -fPIC -Wl,--build-id -o lib$name.so $name.cpp || skip "no compiler"
    objcopy --only-keep-debug lib$name.so $name.apart && strip -s lib$name.so || fail "cannot strip"
  done
  dwz -m supplement one.apart two.apart || skip "dwz makes no supplement"
  echo 'void call_one(void); void call_two(void); int main(void) { call_one(); call_two(); return 0; }' >program.c
  cc -O1 -g -o program program.c ./libone.so ./libtwo.so || fail "not linked"
  record ./program
  mkdir files hidden && cp one.apart two.apart files
  mv supplement hidden
  unknown 'common::Pool::take(int)' --search files
  known in_one --search files
}

supplements_of_dwz_are_found() {
  local id name
  make_supplement
  mkdir files/deep
  cp hidden/supplement files/deep/42
  known 'common::Pool::take(int)' --search files
  rm -r files/*
  for name in one two; do in_build_id_folder lib$name.so $name.apart files; done
  unknown 'common::Pool::take(int)' --search files
  cp hidden/supplement files/.build-id # where the link does not say
  known 'common::Pool::take(int)' --search files
  rm files/.build-id/supplement
  in_build_id_folder hidden/supplement hidden/supplement files
  known 'common::Pool::take(int)' --search files
}

supplements_of_dwz_come_from_servers() {
  local name
  make_supplement
  begin_server
  for name in one two; do serve $name; done
  unknown 'common::Pool::take(int)'
  known in_one
  rm -rf cache
  cp hidden/supplement "served/$(build_id_of hidden/supplement)"
  known 'common::Pool::take(int)'
}

# ---- servers ----

# Waits until a command succeeds, a minute at most: what the command looks at is about to come.
await() { # COMMAND...
  local i
  for ((i = 0; i < 600; i++)); do
    "$@" && return
    sleep 0.1
  done
  fail "it never came: $*"
}

use_server() { # PORT: from now on; a cache of its own
  unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
  export DEBUGINFOD_URLS=http://127.0.0.1:$1 DEBUGINFOD_CACHE_PATH=$work/cache
}

begin_server() { # of tests/symbols/debug_server.py, with the folder "served"
  need python3
  mkdir -p served
  python3 "$here/debug_server.py" served 2>server.err &
  server=$!
  await test -s served/port
  use_server "$(cat served/port)"
}

requests() { grep -c buildid served/requests; }

# Libraries whose debug information is with the server alone, and a program that allocates in each.
make_libraries() { # NAME...
  local name all=()
  mkdir -p served
  for name in "$@"; do
    printf '#include <stdlib.h>\nvoid *volatile kept;\nstatic __attribute__((noinline)) void in_%s(void) { for (int i = 0; i < 100; i++) kept = malloc(1000); }\nvoid call_%s(void) { in_%s(); }\n' \
      "$name" "$name" "$name" >"$name.c"
    cc -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,--build-id -o "lib$name.so" "$name.c" || skip "no compiler"
    objcopy --only-keep-debug "lib$name.so" "$name.apart" && strip -s "lib$name.so" || fail "cannot strip"
    all+=("./lib$name.so")
  done
  { printf 'void call_%s(void);\n' "$@"; echo 'int main(void) {'; printf 'call_%s();\n' "$@"; echo 'return 0; }'; } >program.c
  cc -O1 -g -Wl,--build-id -o program program.c "${all[@]}" || skip "not linked"
  record ./program
}

serve() { # LIBRARY [WORD]: its debug file, or what the server does instead
  local id
  id=$(build_id_of "lib$1.so")
  cp "$1.apart" "served/$id"
  if [ $# = 2 ]; then
    mv "served/$id" "served/$id.file"
    printf %s "$2" >"served/$id"
  fi
}

one_line() { # PATTERN: what the last report said on standard error
  [ "$(wc -l <err)" = 1 ] && grep -q -- "$1" err || fail "not one line with '$1': $(cat err)"
}

report() { # [OPTION...]: leaves report.json and err
  "$winnow" report --json --top 100 --where 'size = 1000' "$@" trace >report.json 2>err || fail "no report: $(cat err)"
}

has() { jq -r '.sites[].name' report.json | grep -Fqx "$1"; }

servers_are_asked_where_the_variable_names_them() {
  make_libraries one
  serve one
  begin_server
  unknown in_one --no-debuginfod
  DEBUGINFOD_URLS='' unknown in_one
  [ ! -s served/requests ] || fail "a server was asked unasked: $(cat served/requests)"
  ! DEBUGINFOD_URLS='' "$winnow" report --debuginfod trace >out 2>err && [ ! -s out ] || fail "no server, and no word of it"
  one_line '--debuginfod: DEBUGINFOD_URLS is not set; set it to '
  rm err
  known in_one --debuginfod
  [ -s err ] && fail "it says something: $(cat err)"
  [ "$(requests)" = 1 ] || fail "not one request: $(cat served/requests)"
  known "in_one (one.c:3)" --by line
  [ "$(requests)" = 1 ] || fail "what is in the cache was asked for: $(cat served/requests)"
  "$winnow" export -f folded -o folded trace && grep -q in_one folded || fail "export: $(cat folded)"
}

# Debian's own server; it listens at all addresses of the machine.
debuginfod_is_understood() {
  local port try
  need debuginfod
  need curl
  make_libraries one
  mkdir files && cp one.apart files
  for try in 1 2 3 4 5; do
    port=$((20000 + (RANDOM + try) % 20000))
    (cd files && exec debuginfod -d "$work/index" -p $port -F . >"$work/server.out" 2>&1) &
    server=$!
    await grep -qE 'started http server|Address already in use|error' server.out
    kill -0 $server 2>/dev/null && break
    server=
  done
  [ -n "$server" ] || skip "debuginfod finds no port: $(cat server.out)"
  use_server $port
  await curl -sf --noproxy '*' -o sent "http://127.0.0.1:$port/buildid/$(build_id_of libone.so)/debuginfo"
  known in_one
}

several_files_come_at_once() {
  make_libraries one two
  serve one together
  serve two together
  begin_server
  report
  has in_one && has in_two || fail "they have no names: $(cat err)"
}

files_of_little_memory_are_not_fetched() {
  make_libraries one two
  sed 's/i < 100/i < 1/' two.c >few.c
  cc -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,--build-id -o libtwo.so few.c || skip "no compiler"
  strip -s libtwo.so
  sed -i 's/call_one();/for (int i = 0; i < 3; i++) call_one();/' program.c
  cc -O1 -g -Wl,--build-id -o program program.c ./libone.so ./libtwo.so || skip "not linked"
  record ./program
  serve one
  begin_server
  report
  has in_one || fail "it has no names: $(cat err)"
  ! grep -q "$(build_id_of libtwo.so)" served/requests || fail "1 of 301 blocks is not worth it: $(cat served/requests)"
}

a_file_that_no_server_has_is_asked_for_once() {
  make_libraries one
  begin_server
  report
  [ ! -s err ] || fail "it is said: $(cat err)"
  report
  [ "$(requests)" = 1 ] || fail "not one request: $(cat served/requests)"
}

servers_that_are_not_there_are_named() {
  make_libraries one two
  use_server 1
  report
  one_line 'debug files not fetched: of lib.*[.]so and 1 more: Connection refused'
}

# A file that was given up is not remembered as one that no server has.
a_file_that_stops_to_come_is_given_up() {
  make_libraries one two
  serve one stop
  serve two
  begin_server
  export DEBUGINFOD_TIMEOUT=1
  report
  has in_two && ! has in_one || fail "$(cat err)"
  one_line 'debug files not fetched: of libone[.]so: no byte came from $DEBUGINFOD_URLS for 1 s'
  serve one
  report
  has in_one || fail "it has no names: $(cat err)"
}

# All are given up once none has said anything for so long: of six files four are asked for, at once.
silent_servers_are_given_up() {
  local name
  make_libraries one two three four five six
  mv trace before
  record ./program
  for name in one two three four five six; do serve $name silence; done
  begin_server
  export DEBUGINFOD_TIMEOUT=1
  "$winnow" diff before trace >out 2>err || fail "no report: $(cat err)"
  one_line 'debug files not fetched: of lib.*[.]so and 5 more: no byte came from $DEBUGINFOD_URLS for 1 s'
  [ "$(requests)" = 4 ] || fail "not four requests: $(cat served/requests)"
  serve one
  report
  has in_one || fail "it is taken for missing: $(cat err)"
}

# What came is used.
an_interrupt_ends_the_fetching_alone() {
  make_libraries one two
  serve one stop
  serve two
  begin_server
  env --default-signal=INT DEBUGINFOD_TIMEOUT=60 "$winnow" report --json --top 100 --where 'size = 1000' trace >report.json 2>err &
  local pid=$!
  await grep -q stopped served/requests
  await grep -qE "$(build_id_of libtwo.so)" served/requests
  await test -s "cache/$(build_id_of libtwo.so)/debuginfo"
  kill -INT $pid
  wait $pid || fail "it ended with $?: $(cat err)"
  has in_two && ! has in_one || fail "$(cat err)"
  one_line 'debug files not fetched: of libone[.]so: stopped by Ctrl-C'
  serve one
  report
  has in_one || fail "it is taken for missing: $(cat err)"
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

# Which tool makes a package of what: of DWARF 5 only LLVM's does, and only of what clang wrote.
pack() { # COMPILER VERSION
  case $1$2 in
    *4) dwp -e inlined -o inlined.dwp ;;
    clang++5) make_inlined clang++ "${options[@]}" -gdwarf-5 -gsplit-dwarf && record ./inlined && llvm-dwp -e inlined -o inlined.dwp ;;
    *) false ;;
  esac
}

compare_split() { # OPTION...
  local options=("$@")
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
      if pack $compiler $version; then
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
