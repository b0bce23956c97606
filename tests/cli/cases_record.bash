# What record tells; sourced by run.
# shellcheck shell=bash disable=SC2154

# The variables that tell a recorded program's children what to do are not meant for a collected heap in one of them.
recording_children_leaves_their_collected_heaps_alone() {
  local lisp=$build/examples/lisp/lisp command
  need_recording
  [ -x "$lisp" ] || skip "there is no lisp"
  need jq
  echo '(print (+ 1 2))' >sum.lisp
  for command in "$lisp sum.lisp" "$lisp sum.lisp; exit" "exec $lisp sum.lisp"; do
    rm -rf t
    "$winnow" record -q -f -r 1 -o t -- sh -c "$command" >said 2>err || fail "$command: code $?"
    [ "$(cat said)" = 3 ] && [ ! -s err ] || fail "$command: $(cat said err)"
    succeeds report --json t # which refuses traces of several kinds of heaps
    [ "$(jq -r .trace.heap out)" = malloc ] || fail "$command: a heap $(jq -r .trace.heap out)"
  done
}

collected_heaps_traces_are_private_too() {
  local lisp=$build/examples/lisp/lisp
  [ -x "$lisp" ] || skip "there is no lisp"
  echo '(print (+ 1 2))' >sum.lisp
  ln -s nowhere link
  (umask 0; WINNOW_TRACE=heap.trace "$lisp" sum.lisp >said) && [ "$(cat said)" = 3 ] || fail "$(cat said)"
  [ "$(stat -c %a heap.trace)" = 600 ] || fail "mode $(stat -c %a heap.trace)"
  WINNOW_TRACE=link "$lisp" sum.lisp >said 2>err
  grep -q 'link is a symbolic link; choose another name' err && [ ! -e nowhere ] || fail "a link is followed: $(cat err)"
}

exit_codes_are_passed_on_where_children_are_ignored() {
  need_recording
  (trap '' CHLD; exec "$winnow" record -q -o t sh -c 'exit 7')
  [ $? = 7 ] || fail "another exit code"
}

interpreters_that_are_no_programs_are_refused() {
  need_recording
  mkfifo fifo
  for path in "$PWD/fifo" "$PWD"; do
    printf '#!%s\n' "$path" >script
    chmod +x script
    run record -o t ./script
    [ "$code" = 126 ] && grep -q "its first line names $path, which is no program" err || fail "$path: code $code: $(cat err)"
    [ ! -e t ] || fail "$path: a trace is there"
  done
}

# The rows of record's table: from the line behind its header on.
rows() { sed -n '/^ *allocated 95 % range/,/  all [0-9]/p' err | tail -n +2; }

children_are_told_apart() {
  need_many_blocks
  need_recording
  "$winnow" record -f -r 1 -o 'a [trace]' -- bash -c 'ls -d "/b in" / >/dev/null 2>&1; head -c 9 /dev/zero >/dev/null; exit 3' >out 2>err
  [ $? = 3 ] || fail "another exit code"
  grep -q '^winnow: wrote a \[trace\], a folder of 3 traces of 3 processes (' err || fail "$(cat err)"
  [ "$(rows | wc -l)" = 4 ] || fail "not a line each and one for all: $(cat err)"
  rows | grep -Eq "  a \\[trace\\]/[0-9.]+trace  +bash -c 'ls -d \"/b in\" " || fail "the program's own: $(cat err)"
  rows | grep -Eq "  a \\[trace\\]/[0-9.]+trace  ls -d '/b in' /\$" || fail "ls: $(cat err)"
  rows | grep -Eq '  a \[trace\]/[0-9.]+trace  head -c 9 /dev/zero$' || fail "head: $(cat err)"
  rows | tail -n 1 | grep -q 'all 3$' || fail "$(cat err)"
  ! grep -q 'still being written' err || fail "the program has ended: $(cat err)"
  local size unit trace
  rows | head -n 3 | sed -E 's/^ *([0-9.]+) (k?B) +[0-9,]+  (a .trace.[/0-9.]+trace)  .*/\1 \2 \3/' >each
  while read -r size unit trace; do
    "$winnow" report --all "$trace" | grep -Eq "^  Allocated +$size $unit( |$)" || fail "$trace: not $size $unit"
  done <each
  "$winnow" record -q -f -o t -- bash -c 'ls / >/dev/null; exit' 2>err
  [ ! -s err ] || fail "not quiet: $(cat err)"
  "$winnow" record -f -o t -- true 2>err
  [ "$(wc -l <err)" = 1 ] || fail "a table of a single trace: $(cat err)"
  # A wrapper allocates little: its trace is not kept.
  need perl
  "$winnow" record -f -o 'a b' -- sh -c 'perl -e "push @k, \$_ for 1 .. 100000"; true' 2>err
  grep -Eq "^winnow: wrote a b \(.*; now: .* report 'a b'$" err || fail "$(cat err)"
  grep -q "^winnow: a b is the trace of perl, which ran in a process that sh started$" err || fail "$(cat err)"
}

many_children_are_summed() {
  need_many_blocks
  need_recording
  "$winnow" record -f -r 1 -o t -- bash -c 'for i in {1..14}; do ls / >/dev/null; done; exit' 2>err || fail "code $?"
  [ "$(rows | wc -l)" = 12 ] || fail "$(cat err)"
  [ "$(rows | grep -Ec ' t/[0-9.]+trace  +ls /$')" = 9 ] || fail "nine of the children: $(cat err)"
  rows | grep -q '  t/[0-9.]*trace  .*bash -c ' || fail "the program's own is not there: $(cat err)"
  rows | tail -n 2 | head -n 1 | grep -q '  … and 5 more$' || fail "$(cat err)"
  rows | tail -n 1 | grep -q '  all 15$' || fail "$(cat err)"
}

# Reading is bounded: a trace of more than 8 MB is named and not read.
children_with_odd_traces_have_their_line() {
  need_recording
  "$winnow" record -f -o t -- sh -c '"$0"/tests/cli/make_trace many t/1.1.trace 900000; echo foreign >t/2.2.trace
    : >t/3.3.trace; head -c 150 t/1.1.trace >t/4.4.trace; echo letter >t/letter; exit' "$build" 2>err
  [ "$(stat -c %s t/1.1.trace)" -gt 8400000 ] || fail "the trace has $(stat -c %s t/1.1.trace) bytes"
  rows | head -n 1 | LC_ALL=C grep -aEq "not counted  t/1.1.trace  .*[(][0-9.]+ MB of trace[)]\$" || fail "$(cat err)"
  rows | grep -q '  t/2.2.trace is not a Winnow trace' || fail "$(cat err)"
  rows | grep -Eq '^ +t/4.4.trace ' || fail "$(cat err)"
  [ ! -e t/3.3.trace ] && [ "$(cat t/letter)" = letter ] || fail "$(ls -l t)"
  rows | tail -n 1 | grep -q ', 1 not counted, 2 cannot be read$' || fail "$(cat err)"
}

# What is no program, and what may have been meant. Hints stand behind a semicolon: none where none is likely.
likely_mistakes_are_hinted_at() {
  printf 'import sys\n' >plain.py
  printf '#!/usr/bin/env python3\n' >named.py
  printf '#! /bin/bash -e\necho\n' >named
  printf '#!/bin/sh\r\necho\r\n' >dos
  printf '#!/no/such/interpreter -x\n' >lost
  echo some text >text
  cp /bin/ls program
  chmod 755 dos lost
  chmod 644 program text named plain.py named.py
  local sh='; a shell can run a command line, and -f records its programs: winnow record -f sh -c'
  refused 127 "no program 'ls -l' in the search path; give its words as separate arguments: winnow record ls -l\$" record 'ls -l'
  refused 127 "no program 'ls [|] wc' in the search path$sh 'ls [|] wc'\$" record 'ls | wc'
  refused 127 "no program 'cd /; ls': No such file or directory$sh 'cd /; ls'\$" record 'cd /; ls'
  refused 127 "$sh 'A=1 ls'\$" record 'A=1 ls'
  refused 127 "$sh 'ls \"a\"'\$" record 'ls "a"'
  refused 127 "$sh 'cd sub'\$" record 'cd sub'
  refused 127 "no program 'cd' in the search path; it is a shell command: sh -c 'cd sub'\$" record cd sub
  refused 127 "no program 'A=1' in the search path; set variables before winnow: A=1 winnow record ls [.][.][.]\$" record A=1 ls -l
  refused 127 "; set variables before winnow: A='1 2' winnow record ls\$" record 'A=1 2' ls
  refused 127 "no program 'no-such' in the search path\$" record no-such
  refused 127 "no program 'no such' in the search path\$" record 'no such'
  refused 127 "no program './no such': No such file or directory\$" record './no such'
  refused 127 "no program 'ls[?]x' in the search path\$" record $'ls\nx'
  refused 127 "no program 'A=1' in the search path\$" record A=1
  refused 126 'plain.py cannot be run: it is not executable; name its interpreter: python3 ./plain.py$' record ./plain.py
  refused 126 '^winnow: plain.py cannot be run: it is not executable; name its interpreter: python3 plain.py$' record plain.py
  refused 126 'not executable; chmod [+]x ./named.py makes it executable, or name its interpreter: python3 ./named.py$' record ./named.py
  refused 126 'not executable; chmod [+]x ./named makes it executable, or name its interpreter: /bin/bash -e ./named$' record ./named
  refused 126 './program cannot be run: it is not executable; chmod [+]x ./program makes it executable$' record ./program
  refused 126 './text cannot be run: it is not executable$' record ./text
  refused 127 "no program 'text' in the search path\$" record text
  refused 126 './dos cannot be run: its first line ends in a carriage return, .*; sed -i' record ./dos
  ! grep -q $'\r' err || fail "a carriage return reaches the terminal"
  refused 126 './lost cannot be run: its first line names the interpreter /no/such/interpreter, which is not there$' record ./lost
}

# /bin/sh runs what names no interpreter, as everywhere; where it fails, that may be why.
scripts_that_a_shell_ran_are_named() {
  need_recording
  printf 'no_such_program = 1\n' >script.py
  printf 'no-such-program\n' >script
  chmod 755 script script.py
  run record -o t ./script.py
  [ "$code" = 127 ] && grep -q '^winnow: ./script.py names no interpreter in its first line, so /bin/sh ran it; to run it by another interpreter: python3 ./script.py$' err ||
    fail "code $code: $(cat err)"
  run record -o t ./script
  grep -q '^winnow: ./script names no interpreter in its first line, so /bin/sh ran it$' err || fail "$(cat err)"
  run record -q -o t ./script
  ! grep -q '^winnow' err || fail "not quiet: $(cat err)"
  echo 'exit 3' >script
  run record -o t ./script
  ! grep -q interpreter err || fail "it ran well: $(cat err)"
  printf '#!/bin/sh\nno-such-program\n' >script
  run record -o t ./script
  ! grep -q interpreter err || fail "it has a first line: $(cat err)"
}

# record sees malloc; of a program's collected heap it says that there is one, and how to trace that.
a_collected_heap_that_malloc_hides_is_named() {
  need_recording
  need cc
  local heap='a garbage-collected heap of its own' hint how
  hint="has $heap, whose blocks are not in this trace of malloc"
  cat >asks.c <<'END'
#include <stdlib.h>
#include <winnow/heap.h>
#include <winnow/trace.h>
int main(void) {
  wn_heap *heap;
  wn_domain *domain;
  wn_trace *trace = NULL;
  if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &domain)) return 1;
#ifdef ASKS
  if (wn_trace_if_requested(domain, &trace)) return 2;
#endif
  {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    for (int i = 0; i < 10000; i++) wn_push_int(domain, list, 0, i);
  }
  void *volatile block = malloc(100000);
  free(block);
  if (trace && wn_trace_stop(domain, trace)) return 3;
  wn_domain_detach(domain);
  return wn_heap_close(heap);
}
END
  cc -I "$source/include" -o silent asks.c -L "$build/src/gc" -lwinnow -Wl,-rpath,"$build/src/gc" >why 2>&1 || fail "$(cat why)"
  cc -DASKS -I "$source/include" -o asks asks.c -L "$build/src/gc" -lwinnow -Wl,-rpath,"$build/src/gc" >why 2>&1 || fail "$(cat why)"
  run record -r 0.5 -o t ./asks 'a b'
  [ "$code" = 0 ] && [ "$(wc -l <err)" = 2 ] || fail "code $code: $(cat err)"
  grep -q "^winnow: ./asks $hint; to trace that heap: WINNOW_TRACE=heap.trace WINNOW_RATE=0.5 ./asks 'a b'\$" err || fail "$(cat err)"
  sh -c "$(sed -n 's/.*; to trace that heap: //p' err)" || fail "the command does not work"
  for how in '' --all; do
    succeeds report ${how:+"$how"} t
    says "NOT IN THE TRACE +$heap; to trace that heap, run it with +WINNOW_TRACE=FILE and without winnow record"
  done
  succeeds report --all heap.trace
  says 'THE COLLECTED HEAP, BY ITS OWN COUNTS'
  ! grep -q 'NOT IN THE TRACE' out || fail "it is: $(cat out)"
  run record -q -o t ./asks
  [ ! -s err ] || fail "not quiet: $(cat err)"
  run record -r 0.5 -o t ./silent
  grep -q "^winnow: ./silent $hint; it could write a trace of that heap by calling wn_trace_if_requested" err || fail "$(cat err)"
  succeeds report t
  says "NOT IN THE TRACE +$heap; it could write a trace of that heap by +calling wn_trace_if_requested"
  cc -DASKS -O1 -I "$source/include" -o silent asks.c -L "$build/src/gc" -lwinnow -Wl,-rpath,"$build/src/gc" || fail "cc"
  succeeds report t # the file is another one now
  ! grep -q 'NOT IN THE TRACE' out || fail "what another program is: $(cat out)"
  run record -r 0.5 -o t ls /
  ! grep -q "garbage" err || fail "ls: $(cat err)"
  succeeds report t
  ! grep -q 'garbage' out || fail "ls: $(cat out)"
  local lisp=$build/examples/lisp/lisp # linked statically
  [ -x "$lisp" ] || return 0
  echo '(print 1)' >one.lisp
  run record -r 0.5 -o t "$lisp" one.lisp
  grep -q "lisp $hint; to trace that heap: " err || fail "$(cat err)"
  succeeds report t
  says "NOT IN THE TRACE +$heap; to trace"
}

# NAME: a program that has Go's heap was recorded as t. That is said in one line each.
check_gos_heap_is_named() {
  local how
  [ "$(grep -c "Go's" err)" = 1 ] && grep -q "^winnow: ./$1 has Go's garbage-collected heap, whose blocks are not in this trace of malloc; go tool pprof looks into it\$" err ||
    fail "$1: $(cat err)"
  for how in '' --tree --all; do
    COLUMNS=80 "$winnow" report ${how:+"$how"} t >out 2>why || fail "$(cat why)"
    [ "$(grep -c "Go's" out)" = 1 ] && grep -q "^  NOT IN THE TRACE   Go's garbage-collected heap; go tool pprof looks into it\$" out ||
      fail "$1, report $how: $(cat out)"
  done
}

# Go's linker leaves a section in each program and library, which strip keeps.
gos_heap_is_named_by_its_section() {
  need_many_blocks
  need_recording
  need cc
  local section='__attribute__((section(".go.buildinfo"), used)) char info[16] = "a";' code
  # Many functions hold blocks, so that the screen is full. Without any sample the mapping names the program's file.
  code=$(for i in {1..30}; do echo "__attribute__((noinline, noclone)) void hold_$i(void) { for (int i = 0; i < 20; i++) held = malloc(1000 + $i); }"; done)
  printf '%s\n' '#include <stdlib.h>' '#include <sys/mman.h>' 'void *volatile held;' "$code" 'int main(void) {' \
    'held = mmap(NULL, 1 << 17, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);' "$(printf 'hold_%d();\n' {1..30})" 'return 0; }' >many.c
  { cat many.c && echo "$section"; } >go.c
  cc -g -o many many.c && cc -g -o marked go.c && cp marked stripped || fail "cc"
  strip stripped || fail "strip"
  run record -r 1 -o t ./many
  ! grep -q "Go's" err || fail "it has none: $(cat err)"
  succeeds report t
  ! grep -q 'NOT IN THE TRACE' out || fail "it has none: $(cat out)"
  run record -r 1 -o t ./marked
  succeeds report t
  [ "$(wc -l <out)" -le 40 ] || fail "$(wc -l <out) lines: $(cat out)"
  local program
  for program in marked stripped; do
    run record -r 1 -o t ./$program
    check_gos_heap_is_named $program
  done
  run record -r 1e-6 -o t ./marked
  check_gos_heap_is_named marked
  succeeds report t
  says 'TOO FEW SAMPLES '
  run record -q -r 1 -o t ./marked
  ! grep -q "Go's" err || fail "not quiet: $(cat err)"
  # A library that the program loads, and that allocates.
  printf '%s\n' '#include <stdlib.h>' "$section" 'void *volatile kept;' 'int number(void) { kept = malloc(5000); return !kept; }' >part.c
  { echo 'int number(void);'; sed 's/return 0/return number()/' many.c; } >loads.c
  cc -shared -fPIC -o libpart.so part.c && cc -o loads loads.c -L. -lpart -Wl,-rpath,"$PWD" || fail "cc"
  run record -r 1 -o t ./loads
  succeeds report t
  says "NOT IN THE TRACE +Go's"
}

gos_heap_is_named_in_a_program_of_go() {
  need_recording
  need go
  need cc
  cat >held.go <<'END'
package main

// #include <stdlib.h>
import "C"

var held [][]byte

func main() {
	C.malloc(1000)
	for i := 0; i < 20000; i++ {
		held = append(held, make([]byte, 1000))
	}
}
END
  GOCACHE=$PWD/cache GOFLAGS=-mod=mod CGO_ENABLED=1 go build -o held held.go >why 2>&1 || skip "go builds no program with C code: $(tail -n 1 why)"
  run record -o t ./held
  check_gos_heap_is_named held
}

# What is between Go and C is nobody's code: a row and its callers go on to the Go functions, with their lines.
gos_functions_are_callers_of_cs() {
  need_recording
  need_many_blocks
  need go
  need cc
  cat >rows.go <<'END'
package main

// #include <stdlib.h>
// __attribute__((noinline)) static void *read_row(size_t bytes) { void *volatile row = malloc(bytes); return row; }
import "C"
import "unsafe"

var kept []unsafe.Pointer

//go:noinline
func load(bytes int) {
	kept = append(kept, C.read_row(C.size_t(bytes)))
}

//go:noinline
func name(i int) {
	kept = append(kept, unsafe.Pointer(C.CString("a name that is as long as others")))
}

func main() {
	for i := 0; i < 20000; i++ {
		load(300 + i%500)
		name(i)
	}
}
END
  GOCACHE=$PWD/cache GOFLAGS=-mod=mod CGO_ENABLED=1 go build -o rows rows.go >why 2>&1 || skip "go builds no program with C code: $(tail -n 1 why)"
  run record --rate 1e-2 -o t ./rows
  succeeds report t
  says 'read_row  rows[.]go:4 +< main[.]load:12 < main[.]main:2[2-6] '
  says 'main[.]name  rows[.]go:17 +< main[.]main:2[2-6] '
  succeeds report --by stack t
  says 'read_row  rows[.]go:4 +< main[.]load rows[.]go:12 < main[.]main rows[.]go:2[2-6] +[0-9]'
  # What a thread that Go starts allocates has no other caller.
  ! sed -n '/  read_row/,/main[.]main/p' out | grep -q 'cgocall\|_Cfunc_\|runtime[.]main' || fail "between Go and C: $(cat out)"
  succeeds report --show-wrappers --by stack t
  says 'malloc.*< runtime[.]asmcgocall'
  # Callers without lines have no addresses beside their names.
  GOCACHE=$PWD/cache GOFLAGS=-mod=mod CGO_ENABLED=1 go build -ldflags=-w -o rows rows.go || fail "not built"
  run record --rate 1e-2 -o t ./rows
  succeeds report t
  says 'read_row  rows[.]go:4  < main[.]load < main[.]main '
}

# Who records a script wants to know of its programs.
work_of_children_that_are_not_followed_is_told() {
  need_recording
  local work='i=0; while [ $i -lt 1500000 ]; do i=$((i + 1)); done'
  run record -o t sh -c "sh -c '$work'; exit"
  grep -Eq '^winnow: processes that sh started used [0-9.]+ m?s of the [0-9.]+ m?s of processor time; they are not in its trace, and --follow-children' err ||
    fail "$(cat err)"
  # Of a short run too, if hardly anything is its own.
  run record -o t sh -c "sh -c '${work/1500000/100000}'; exit"
  grep -q '^winnow: processes that sh started used' err || fail "a short run: $(cat err)"
  run record -o t sh -c "sh -c :; exit"
  ! grep -q 'of processor time' err || fail "hardly a run: $(cat err)"
  run record -q -o t sh -c "sh -c '$work'; exit"
  [ ! -s err ] || fail "not quiet: $(cat err)"
  local options
  for options in "-f" ""; do
    # shellcheck disable=SC2086
    run record $options -o t sh -c "sh -c :; $work"
    ! grep -q 'of processor time' err || fail "its own work: $(cat err)"
  done
  run record -f -o t sh -c "sh -c '$work'; exit"
  ! grep -q 'of processor time' err || fail "followed: $(cat err)"
}
