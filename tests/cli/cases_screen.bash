# The first screen of the report; sourced by run.
# shellcheck shell=bash disable=SC2154

columns_of_widest() { LC_ALL=C.UTF-8 awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' "$1"; }

screens_are_as_they_were() {
  local kind columns screen
  for screen in "$source"/tests/cli/screens/*; do
    kind=${screen##*/} columns=${screen##*.}
    make "${kind%.*}" t
    COLUMNS=$columns "$winnow" report --no-symbols t >out 2>err || fail "$(cat err)"
    diff "$screen" out || fail "the screen of ${kind%.*} changed at $columns columns; if that is right: cp out $screen"
  done
}

comparisons_are_as_they_were() {
  local screen seed
  for seed in 1 2; do "$build/tests/page/make_planted" malloc t$seed $seed || fail "no trace"; done
  for screen in "$source"/tests/cli/comparisons/*; do
    COLUMNS=${screen##*.} "$winnow" diff $([[ $screen = */all.* ]] && echo --all) t1 t2 >out 2>err || fail "$(cat err)"
    diff "$screen" out || fail "the comparison ${screen##*/} changed; if that is right: cp out $screen"
  done
}

# 40 lines of as many columns as there are, and of 60, too, where most of what is said takes two lines. (The shell counts: other programs would take longer than the reports.)
screens_have_one_size() {
  local kind how columns line lines
  for kind in plain collected exact none one bare named odd killed killed_for_memory zero hostile; do
    make $kind t
    for columns in 60 80 100 160; do
      for how in 'function --sort total' function line file module thread stack; do
        # shellcheck disable=SC2086 # several words
        COLUMNS=$columns "$winnow" report --no-symbols --by $how t >out 2>err || fail "$(cat err)"
        mapfile -t lines <out
        [ ${#lines[@]} -gt 5 ] && [ ${#lines[@]} -le 40 ] || fail "$kind by $how: ${#lines[@]} lines: $(cat out)"
        [ $columns -le 80 ] && continue
        for line in "${lines[@]}"; do
          [[ $line = *winnow* ]] || [ ${#line} -le $columns ] || fail "$kind by $how at $columns: $line: $(cat out)"
        done
      done
    done
  done
}

# No number that means nothing, no minus in a sum, and what to do next by the name of the option.
the_screen_says_what_to_do() {
  make none t
  COLUMNS=160 run report --no-symbols t
  says 'TOO FEW SAMPLES +it allocated next to nothing, less than [0-9.]+ kB in all .* Next: record it again with --rate 0[.]01 '
  make one t
  succeeds report --no-symbols t
  says 'TOO FEW SAMPLES +what it held is not known well enough .* Next: record it again with --rate 0[.]01 '
  make killed t
  succeeds report --no-symbols t
  says 'NOT DECIDED .* Next: record a longer run, or with ten times the samples: winnow record --rate 0[.]01 '
  says 'Held at the end [^;]* of the peak +Allocated '
  succeeds report --no-symbols --where 'size > 1' t
  says 'Held at the end [^;]* of the peak; in use, or leaked +Allocated '
  make emptied t
  succeeds report --no-symbols t
  says 'NOT DECIDED +it shrank by between [0-9.]+ MB and [0-9.]+ MB after the first fifth of the run; +whether'
  need jq
  succeeds report --json --no-symbols t
  jq -e '.verdict | .kind == "not_decided" and .grown_bytes.high < 0' out >/dev/null || fail "$(jq -c .verdict out)"
  make plain t
  COLUMNS=160 run report --no-symbols t
  says 'Resident at most [^-]* at 500 us: [^-]* [+] [^-]*; malloc has [0-9.]+ MB more, never written'
  says 'Held at the end [^;]* 100 % of the peak +Allocated '
  run export --no-symbols -f dhat -o dhat t
  succeeds report dhat
  says 'Allocated +[0-9.]+ MB +in [0-9,]+ '
  ! grep -q 'B/s' out || fail "a rate without times: $(cat out)"
}

# Of more functions that grow than have room, those that grew the most have their names.
the_screen_names_what_grew_the_most_and_counts_the_others() {
  make four t
  succeeds report --no-symbols t
  says 'STILL GROWING +[^ ]+x40 [(][0-9.]+ GB/s[)], [^ ]+x30 [(][0-9.]+ GB/s[)] and 2 more to the end of a +run +of less than a second'
  [ "$(grep -c ' grows ' out)" = 4 ] || fail "$(cat out)"
  ! grep -qE '^.{101}' out || fail "too wide: $(cat out)"
  succeeds report --no-symbols --json t
  jq -e '.verdict.culprits | [.[].function | .[-2:]] == ["40", "30", "20", "10"] and all(.grown_bytes.low > 0) and
    ([.[].grown_bytes.low] | . == (sort | reverse))' out >/dev/null || fail "$(jq .verdict out)"
}

the_screen_says_who_frees_only_at_the_exit() {
  need_recording
  need_many_blocks
  "$winnow" record -q -r 1e-2 -o t.trace -- "$build/tests/cli/programs/frees_late" >answer 2>&1 || fail "$(cat answer)"
  succeeds report t.trace
  says 'was +freed +in +the +last +[0-9.]+ +[mu]s, +most +of +it +allocated +by +keep( |$)'
}

# A program that the system killed for memory: what it held then comes first, unless another moment is asked for.
the_screen_says_what_was_held_as_memory_ran_out() {
  make killed_for_memory t
  succeeds report --no-symbols t
  says '^pro"gram +[0-9.]+ ms, killed for memory [(]limit 64[.]0 MB[)]'
  grep -q '^  resident .* 61[.]0 MB of 64[.]0 MB$' out || fail "no limit: $(cat out)"
  says ' HELD AT THE END, '
  ! grep -q 'HELD AT THE PEAK' out || fail "$(cat out)"
  [ "$(grep -nm1 'Held at the end' out | cut -d: -f1)" -lt "$(grep -nm1 'Held at the peak' out | cut -d: -f1)" ] || fail "$(cat out)"
  ! grep -q 'NO LEAK SEEN' out || fail "a promise: $(cat out)"
  succeeds report --no-symbols --at peak t
  says ' HELD AT THE PEAK, '
  succeeds report --no-symbols --all t
  fact 'Limit of the control group' '64[.]0 MB'
  fact 'Slowed down beyond' '32[.]0 MB'
  fact 'The group waited for memory' '2[.]00 ms'
  fact 'Killed for memory in the group' 1
  succeeds info t
  says 'limit +64[.]0 MB of the control group, slowed down beyond 32[.]0 MB, waited 2[.]00 ms for memory, 1'
  says 'ended +yes: signal 9: killed for memory '
  succeeds report --no-symbols --json t
  jq -e '.trace.killed_for_memory and .question == "at:end" and .resident.limit_bytes == 64000000 and .resident.kills == 1 and
    .resident.pressure_ns == 2000000 and [.control_group[].limit_bytes] == [128000000, 64000000]' out >/dev/null || fail "$(head -c 3000 out)"
  succeeds report --no-symbols --json --at peak t
  jq -e '.question == "at:peak"' out >/dev/null || fail "$(head -c 3000 out)"
  make killed_at_no_limit t
  succeeds report --no-symbols t
  says '^pro"gram +[0-9.]+ ms, killed for memory  '
  ! grep -q ' MB of ' out || fail "a limit: $(cat out)"
  succeeds info t
  ! grep -q '^limit' out || fail "a limit: $(cat out)"
  make killed t
  succeeds report --no-symbols t
  ! grep -Eq 'for memory|limit' out || fail "$(cat out)"
  says ' HELD AT THE PEAK, '
  succeeds report --no-symbols --json t
  jq -e '(.trace.killed_for_memory | not) and .control_group == [] and (.resident | has("limit_bytes") | not)' out >/dev/null || fail "$(head -c 3000 out)"
}

# Nobody saw the end, but nothing was left of the limit. No such words while a process writes the trace, and none of a
# group whose files fill the limit.
the_screen_says_that_memory_probably_ran_out() {
  need jq
  need flock
  make killed_probably t
  succeeds report --no-symbols t
  says '^pro"gram +[0-9.]+ ms, probably killed for memory [(]limit 64[.]0 MB[)]'
  says ' HELD AT THE END, '
  ! grep -q 'HELD AT THE PEAK' out || fail "$(cat out)"
  [ "$(grep -nm1 'Held at the end' out | cut -d: -f1)" -lt "$(grep -nm1 'Held at the peak' out | cut -d: -f1)" ] || fail "$(cat out)"
  ! grep -q 'NO LEAK SEEN' out || fail "a promise: $(cat out)"
  succeeds report --no-symbols --json t
  jq -e '.trace.probably_killed_for_memory and (.trace.killed_for_memory | not) and .question == "at:end"' out >/dev/null || fail "$(head -c 3000 out)"
  succeeds report --no-symbols --at peak t
  says ' HELD AT THE PEAK, '
  succeeds info t
  says 'ended +no: probably killed for memory '
  flock t "$winnow" report --no-symbols t >out || fail "flock"
  says '^pro"gram +[0-9.]+ ms, still runs'
  says ' HELD AT THE PEAK, '
  flock t "$winnow" report --no-symbols --json t >out || fail "flock"
  jq -e '.trace.probably_killed_for_memory == false and .question == "at:peak"' out >/dev/null || fail "$(head -c 3000 out)"
  make killed_with_room t
  succeeds report --no-symbols t
  says '^pro"gram +[0-9.]+ ms, no end recorded'
  says ' HELD AT THE PEAK, '
  make killed_for_memory t
  succeeds report --no-symbols --json t
  jq -e '.trace.probably_killed_for_memory == false' out >/dev/null || fail "$(head -c 3000 out)"
}

# Of a script the trace has the shell alone: more samples of it would tell nothing.
a_script_is_to_be_recorded_with_its_children() {
  need_recording
  local program=$build/tests/cli/programs/allocates
  printf '#!/bin/bash\n%s loop 1\ntrue\n' "$program" >script
  chmod +x script
  "$winnow" record -q --seed 1 -o t -- ./script || fail "no trace"
  succeeds report t
  says 'TOO FEW SAMPLES .*record it with -f, for the programs that it starts '
  "$winnow" record -q --seed 1 -f -o run -- ./script || fail "no traces"
  succeeds report run
  ! grep -q 'with -f' out || fail "they were recorded: $(cat out)"
  "$winnow" record -q --seed 1 --rate 1e-6 -o t -- "$program" loop 1 || fail "no trace"
  succeeds report t
  says 'TOO FEW SAMPLES .*with --rate 0[.]0001 '
  local name
  for name in g++ g++-12 gcc-4.9 clang-14 clang++ x86_64-linux-gnu-gcc-12 arm-none-eabi-g++ bash-5.2; do
    ln -s "$program" $name # which leaves its work to cc1plus and others
    "$winnow" record -q --seed 1 --rate 1e-6 -o t -- ./$name loop 1 || fail "no trace"
    succeeds report t
    says 'TOO FEW SAMPLES .*record it with -f, for the programs that it starts '
  done
  for name in gcc-12x tgcc gcc- gcc-ar my-make my-make-4 12 -12 cmake; do
    ln -s "$program" ./$name
    "$winnow" record -q --seed 1 --rate 1e-6 -o t -- ./$name loop 1 || fail "no trace"
    succeeds report t
    ! grep -q 'with -f' out || fail "$name: $(cat out)"
  done
}

what_was_freed_soon_reads_at_once() {
  make plain t
  succeeds report --no-symbols t
  says 'Allocated .*; 1[.]0 % freed within 30[.]0 us '
  make collected t
  succeeds report --no-symbols t
  says 'Allocated .*; 27 % dead within 13[.]0 ms '
}

# Where it is not measured, a line that goes on would say that nothing has changed.
the_chart_has_dots_where_nothing_was_measured() {
  make plain t
  succeeds report --no-symbols t
  says ' resident +·+█+·+  12[.]0 MB '
  says ' 0 s   · not measured +3[.]00 ms  same scale '
  make named t
  COLUMNS=160 run report --no-symbols t
  says ' mapped +·+[▁▂▃▄▅▆▇█]+·+  [0-9.]+ MB '
  says 'Held at the peak .*, and 15[.]7 MB that it mapped itself'
}

rows_of_the_screen_account_for_all_bytes() {
  make exact t
  local by
  for by in function line file module thread; do
    "$winnow" report --no-symbols --by $by t | sed -n '/^HELD/,/^$/p' | awk '
      / [0-9.]+ k?B / { sum += $1 * ($2 == "kB" ? 1000 : 1) }
      END { if (sum < 440000 || sum > 458000) { print sum; exit 1 } }' || fail "by $by: the rows do not add up to 449 kB"
  done
}

the_screen_has_as_many_rows_as_asked_for() {
  make plain t
  local rows
  for rows in 3 15; do
    succeeds report --no-symbols --top $rows t
    [ "$(sed -n '/^HELD/,/more functions/p' out | grep -cE '^ +[0-9.]+ k?M?B ')" = $((rows + 1)) ] || fail "--top $rows: $(cat out)"
  done
}

# ARGUMENT..., of winnow record: records by a clock that goes on with the samples (programs/steps.c).
# By the system's clock, a program that has to wait for the processor stands still for a part of its
# run, and has no sure growth then.
record_by_steps() { LD_PRELOAD=$build/tests/cli/programs/libsteps.so "$winnow" record -q --seed 1 "$@" >said 2>&1; }

# Some samples of what grows from start to end do not show that it stopped.
a_row_is_level_only_if_chance_does_not_explain_it() {
  need_recording
  need_many_blocks
  local seed rate
  for rate in 1e-5 2e-5; do
    for seed in {1..12}; do
      record_by_steps --seed $seed --rate $rate -o t -- "$build/tests/cli/programs/allocates" loop || fail "$(cat said)"
      succeeds report t
      sed -n '/^HELD/,/^$/p' out | grep -Eq ' ([?]|grows) +obtain' || fail "rate $rate, seed $seed: $(cat out)"
    done
  done
}

# Python's line, and the command that shows the C function; names where there are none, and not a line.
the_next_step_is_for_the_language() {
  local python=/usr/bin/python3
  need_recording
  need_many_blocks
  $python -c 'import sys, ctypes; assert sys.version_info >= (3, 9)' 2>why || skip "there is no $python of 3.9 or later with ctypes"
  cat >keeps.py <<'PY'
import ctypes, os
copy = ctypes.CDLL(None).strdup
def keep():
    for _ in range(20000): copy(b"x" * 1000)
keep()
os._exit(0)
PY
  record_by_steps --rate 1e-3 -o t -- $python keeps.py || fail "$(cat said)"
  succeeds report t
  says 'Next: look at keeps[.]py:4: .* winnow report --show-wrappers t +[(]which C functions hold it[)]'
  need node
  echo 'const kept = []; for (let i = 0; i < 3000; i++) kept.push(Buffer.allocUnsafeSlow(20000));' >keeps.js
  record_by_steps --rate 1e-3 -o t -- node keeps.js || fail "$(cat said)"
  succeeds report t
  says "JavaScript's functions have no names yet: .*Next: record with those names, to see what calls +[^ ]*Alloc"
}

the_screen_says_who_leaks() {
  need_recording
  need_many_blocks
  record_by_steps --rate 1e-3 -o t -- "$build/tests/cli/programs/leaks" || fail "$(cat said)"
  local line
  line=$(grep -n 'session = malloc' "$source/tests/cli/programs/leaks.c" | cut -d : -f 1)
  succeeds report t
  says "LEAK LIKELY +remember \\(leaks.c:$line\\), called by serve: [0-9.]+ [kM]B/s from start to end"
  says 'Held at the end [^;]* % of the peak +Allocated '
  says "Next: look at leaks.c:$line: what should free this, and when[?] A cache would stop growing +winnow report --tree t "
  says 'HELD AT THE PEAK.* grows +remember +leaks.c:[0-9]+( [+][0-9]+ lines?)? +< serve:[0-9]+ < main:[0-9]+'
  says 'exit 0 .*Resident at most .*Held at the peak .*Held at the end .*Allocated '
  run report --json t
  need jq
  jq -e '.verdict | .kind == "leak_likely" and .culprits[0].function == "remember" and .culprits[0].caller == "serve"' out >/dev/null || fail "$(jq .verdict out)"
}

# [-f] COMMAND...: reports a run of it, and with -f of the processes that it starts.
report_by_steps() {
  rm -rf run && mkdir run
  record_by_steps --rate 1e-3 -o run/t "$@"
  succeeds report run
}

a_leak_that_begins_late_is_told() {
  need_recording
  need_many_blocks
  need jq
  report_by_steps "$build/tests/cli/programs/leaks" 200 45
  says 'LEAK LIKELY +remember \(leaks.c:[0-9]+\), called by serve: [0-9.]+ [kM]B/s +since +[0-9.]+ +m?s'
  run report --json run
  jq -e '.trace.duration_ns as $all | .verdict | .kind == "leak_likely" and .at_ns > $all * 0.35 and .at_ns < $all * 0.55' out >/dev/null ||
    fail "$(jq .verdict out)"
}

# Where lines are scarce, a second row tells more than the callers of the first ones.
rows_of_a_tenth_go_before_callers() {
  need_recording
  need cc
  {
    printf '#include <stdlib.h>\nvoid *volatile kept;\n'
    for name in a b c d e f g; do
      echo "void fill_$name(void) { kept = malloc(10000); }"
      echo "void a_caller_with_a_name_so_long_that_its_row_has_no_room_for_it_$name(void) { fill_$name(); }"
    done
    echo "int main(void) {$(printf ' a_caller_with_a_name_so_long_that_its_row_has_no_room_for_it_%s();' a b c d e f g) return 0; }"
  } >rows.c
  cc -g -O0 -o rows rows.c || fail "not compiled"
  "$winnow" record -q --rate 1 -o t ./rows || fail "not recorded"
  COLUMNS=80 succeeds report t
  [ "$(sed -n '/^HELD/,/^ALLOCATED/p' out | grep -c '  fill_[a-g]  rows[.]c')" = 7 ] || fail "not seven rows: $(cat out)"
  [ "$(sed -n '/^HELD/,/^ALLOCATED/p' out | grep -c ' < a_caller')" = 1 ] || fail "callers of not one: $(cat out)"
  [ "$(wc -l <out)" -le 40 ] || fail "$(wc -l <out) lines"
}

# Compilers make two functions of one, of which one calls the other.
another_line_of_a_function_is_not_its_caller() {
  need_recording
  need cc
  cat >parts.c <<'END'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void grow(int depth) {
  if (!depth) kept = malloc(1000);
  else grow(depth - 1);
}
int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 100; i++) grow(argc);
  return 0;
}
END
  cc -g -O0 -o parts parts.c || fail "not compiled"
  "$winnow" record -q --rate 1 -o t ./parts || fail "not recorded"
  succeeds report t
  says 'grow  parts[.]c:4  < main:9 '
  succeeds report --all t
  says 'grow  parts[.]c:4 .*< itself < main '
}

a_verdict_on_two_functions_has_two_lines() {
  need_recording
  need_many_blocks
  export COLUMNS
  for COLUMNS in 80 100; do
    report_by_steps "$build/tests/cli/programs/leaks" 200 0 100
    says 'LEAK LIKELY +remember [(][0-9.]+ [kM]B/s[)] and log_request [(][0-9.]+ [kM]B/s[)] from +start +to +end: '
    [ "$(sed -n '/LEAK LIKELY/,/^$/p' out | wc -l)" = 3 ] || fail "more than two lines: $(cat out)"
  done
}

the_process_that_leaks_is_named() {
  need_recording
  need_many_blocks
  need jq
  local program=$build/tests/cli/programs/leaks
  report_by_steps -f bash -c "'$program' 200 100 & '$program' & wait"
  says 'LEAK LIKELY +remember \(leaks.c:[0-9]+\), called by serve, in leaks \([0-9]+\): [0-9.]+ [kM]B/s '
  run report --json run
  jq -e '.verdict | .kind == "leak_likely" and .culprits[0].processes == 1 and (.culprits[0].process | test("^leaks [(][0-9]+[)]$"))' out >/dev/null ||
    fail "$(jq .verdict out)"
  report_by_steps -f bash -c "'$program' & '$program' & wait"
  says 'LEAK LIKELY.* and 1 other'
  report_by_steps -f bash -c "'$program' 200 100 & '$program' 200 100 & wait"
  ! grep -qE 'LEAK|GROWING' out || fail "a leak in processes that do not leak: $(cat out)"
}

mapped_memory_of_processes_counts() {
  need_recording
  mkdir run
  local program=$build/tests/cli/programs/maps
  "$winnow" record -q -f -o run/t -- bash -c "'$program' & '$program' & wait" >said 2>&1 || fail "$(cat said)"
  succeeds report run
  says 'MAPPED, NOT MALLOC '
  says 'HELD AT THE PEAK, AND MAPPED( AT [0-9.]+ m?s)?, [0-9.]+ MB .* trend +allocated by .* mapped  [a-z]'
}

# An interpreter frees all it has as it ends, also by a signal; before that a list only grew.
what_grew_until_the_shutdown_is_told() {
  need_recording
  need_many_blocks
  need python3
  export PYTHONMALLOC=malloc
  local way
  for way in 'sys.exit(3)' 'os.kill(os.getpid(), signal.SIGINT)'; do
    report_by_steps python3 -c "
import os, signal, sys
held = []
for i in range(200000): held.append('item %d' % i)
$way"
    says 'Held at the end .* was +freed +in +the +last +[0-9.]+ +[mu]?s.* STILL GROWING .* a +leak, +or +data +that +it +collects'
  done
}

a_mistyped_command_has_a_suggestion() {
  local typed
  for typed in reprot repor recrod difff; do
    refused 2 "there is no command '$typed'; did you mean 'winnow (report|record|diff)'[?]$" $typed t
  done
  refused 2 "there is no command 'frobnicate'; see 'winnow help'$" frobnicate
  refused 2 "there is no command 'recrd'; did you mean 'winnow record'[?]$" help recrd
  make one t
  refused 2 "there is no command 't'; it is a file: 'winnow report' reads traces" t
  run
  [ "$code" = 2 ] && [ "$(wc -l <err)" -le 6 ] && grep -q 'winnow record -- PROGRAM' err && grep -q 'winnow report FILE' err || fail "$(cat err)"
}

a_mistyped_option_has_a_suggestion() {
  make one t
  refused 2 "option '--att' is not known; did you mean '--at'[?]$" report --att x t
  refused 2 "option '--byy' is not known; did you mean '--by'[?]$" report --byy=line t
  refused 2 "option '--jsno' is not known; did you mean '--json'[?]$" info --jsno t
  refused 2 "option '--max-memroy' is not known; did you mean '--max-memory'[?]$" dump --max-memroy 1G t
  refused 2 "option '--ratee' is not known; did you mean '--rate'[?]$" record --ratee 1 -- true
  refused 2 "option '--fromat' is not known; did you mean '--format'[?]$" export --fromat folded t
  refused 2 "option '--prot' is not known; did you mean '--port'[?]$" view --prot 1 t
  refused 2 "option '--tpo' is not known; did you mean '--top'[?]$" diff --tpo 3 t t
  refused 2 "option '--x' is not known; see 'winnow help report'$" report --x t
  refused 2 "option '--quantity' is not known; see 'winnow help report'$" report --quantity held t
}

terminals_get_a_pager() {
  need script
  make plain t
  TERM=xterm PAGER='cat >paged' script -qec "$winnow report --no-symbols t" typescript >/dev/null </dev/null
  grep -aq $'\033\\[1m' paged && grep -aq 'Held at the peak' paged || fail "the pager got: $(cat paged)"
  ! grep -aq 'Held at the peak' typescript || fail "the terminal got it as well"
  rm paged
  TERM=xterm PAGER='cat >paged' script -qec "$winnow report --no-symbols --no-pager t" typescript >/dev/null </dev/null
  [ ! -e paged ] && grep -aq 'Held at the peak' typescript || fail "--no-pager: $(cat typescript)"
  PAGER='cat >paged' "$winnow" report --no-symbols t >out
  [ ! -e paged ] || fail "a pager for a file"
  TERM=xterm PAGER='cat >paged' LC_ALL=C script -qec "$winnow report --no-symbols t" typescript >/dev/null </dev/null
  ! LC_ALL=C grep -q $'[\x80-\xff]' paged && grep -q 'Held at the peak' paged || fail "in the C locale: $(cat paged)"
}

a_comparison_has_a_verdict() {
  need_recording
  need_many_blocks
  local program=$build/tests/cli/programs/leaks seed
  for seed in 1 2; do
    "$winnow" record -q --rate 1e-3 --seed $seed -o t$seed -- "$program" >said 2>&1 || fail "$(cat said)"
  done
  "$winnow" record -q --rate 1e-3 --seed 3 -o more -- "$program" 260 >said 2>&1 || fail "$(cat said)"
  succeeds diff t1 t2
  says '  NO CHANGE BEYOND NOISE'
  succeeds diff t1 more
  says 'Held at the peak .* \+[0-9]+ % .*  REGRESSION +Held at the peak \+[0-9.]+ MB: remember \+[0-9.]+ MB'
  says 'HELD AT THE PEAK .* remember +leaks.c:[0-9]+ .*< serve < main'
  [ "$(wc -l <out)" -le 20 ] || fail "$(cat out)"
  succeeds diff more t1
  says '  IMPROVED +Held at the peak -[0-9.]+ MB: remember -'
}

proposed_commands_take_files_that_look_like_options() {
  make plain ./-x.trace
  succeeds report --no-symbols -- -x.trace
  says ' winnow view [.]/-x[.]trace .* [.]/-x[.]trace'
  "$winnow" report --no-symbols - <./-x.trace >out 2>err || fail "$(cat err)"
  says ' winnow view - '
}

long_names_are_shortened_in_the_verdict() {
  need_recording
  need_many_blocks
  need g++
  cat >p.cc <<'CC'
#include <cstdlib>
#include <map>
#include <string>
void *volatile last;
__attribute__((noinline)) void remember(std::map<std::string, std::string> *, unsigned long long bytes) {
  void **block = (void **)std::malloc(bytes);
  if (!block) abort();
  *block = last, last = block;
}
int main() {
  for (int i = 0; i < 20000; i++) remember(nullptr, 200);
}
CC
  g++ -O1 -g -o p p.cc || fail "g++"
  record_by_steps --rate 1e-2 -o t -- ./p || fail "$(cat said)"
  succeeds report t
  says 'STILL GROWING +remember[(]std::map<…>[*], unsigned long long[)] [(]p.cc:6[)], called by main: '
  run report --json t
  grep -q '"function": "remember(std::map' out || fail "JSON has no whole name"
}

the_parts_of_what_is_resident_have_their_sum_before_them() {
  need_recording
  need perl
  "$winnow" record -q -o t -- perl -e '$held = "a" x 4e7; undef $held; push @kept, "b" x 1e6 for 1 .. 3' >said 2>&1 || fail "$(cat said)"
  succeeds report --at end t
  says 'Resident at most +[4-9][0-9.]+ MB +parts of the [0-9.]+ MB at [0-9.]+ m?s: [0-9]'
}

# What is mapped at a moment that has less than half of the most is not added to the peak without that moment.
parts_of_less_than_the_peak_are_said_to_be_so() {
  export COLUMNS=160
  make named t
  succeeds report --no-symbols t
  says 'Resident at most +40[.]0 MB +at 500 us: 15[.]7 MB mapped .* that it mapped itself .* HELD AT THE PEAK, AND MAPPED, '
  make named_larger t
  succeeds report --no-symbols t
  says 'Resident at most +90[.]0 MB +parts are known of 40[.]0 MB, at 500 us: 15[.]7 MB mapped .* HELD AT THE PEAK, AND MAPPED AT 500 us, '
  ! grep -q 'that it mapped itself' out || fail "$(cat out)"
  succeeds report --no-symbols --at end t
  says 'Resident at most +90[.]0 MB +parts of the 40[.]0 MB at 500 us: '
}

tools_for_other_heaps_are_named_by_whole_names() {
  need_recording
  local name
  for name in node node_exporter; do
    cp "$build/tests/cli/programs/maps" $name
    "$winnow" record -q -o t -- ./$name >said 2>&1 || fail "$(cat said)"
    succeeds report t
    says 'MAPPED, NOT MALLOC'
    case $name in
      node) says 'heapsnapshot-signal looks into JavaScript' ;;
      *) ! grep -q heapsnapshot out || fail "$name is no node: $(cat out)" ;;
    esac
    succeeds report --json t
    [ "$(grep -c '"tool": "node --heapsnapshot-signal looks into' out)" = "$([ $name = node ] && echo 1 || echo 0)" ] || fail "$name: $(grep '"tool"' out)"
  done
}

stripped_code_is_said_to_be() {
  need_recording
  need_many_blocks
  need strip
  cp "$build/tests/cli/programs/leaks" stripped && strip stripped
  record_by_steps --rate 1e-3 -o t -- ./stripped || fail "$(cat said)"
  succeeds report t
  says 'Names are missing: stripped is stripped; each row is a call. For +names +give +the +folder +of +its +file +from +before +strip +with +--search, +or +build +it +with +-g +and +without +-s +and +strip, +and +record +again[.]'
  says 'LEAK LIKELY +stripped\+0x'
  mkdir before && cp "$build/tests/cli/programs/leaks" before/of_another_name
  succeeds report --search before t
  ! grep -q 'Names are missing' out || fail "$(cat out)"
  says 'LEAK LIKELY +[a-z_]+ [(]leaks[.]c:[0-9]+[)]'
  printf '%s\n' '#!/bin/sh' 'echo "diversion by other from: $3"' 'echo "leaks:amd64: $3"' >dpkg-query
  chmod +x dpkg-query
  PATH=$PWD:$PATH succeeds report t
  says 'Names are missing: stripped is stripped. First install leaks-dbgsym, and report again'
  [ "$(grep -cE 'leaks-dbgsym|DEBUGINFOD_URLS' out)" = 1 ] || fail "not one line: $(cat out)"
  "$winnow" record -q --rate 1e-3 -o t -- "$build/tests/cli/programs/leaks" >said 2>&1 || fail "$(cat said)"
  succeeds report t
  ! grep -q 'Names are missing' out || fail "a hint that nobody needs: $(cat out)"
  need gcc
  echo '#include <stdlib.h>
void *take(size_t size) { static void *taken[100]; static int n; return taken[n++ % 100] = malloc(size); }' >take.c
  echo '#include <stddef.h>
void *take(size_t size); int main(void) { for (int i = 0; i < 100; i++) take(1000); }' >main.c
  gcc -O0 -c take.c && gcc -O0 -g -o mixed main.c take.o || fail "no program"
  "$winnow" record -q --rate 1 -o t -- ./mixed >said 2>&1 || fail "$(cat said)"
  succeeds report t
  says 'No lines: what allocates in mixed was built without -g[.]' # and main was not
}

# All of a stripped program may be one function, which is no answer to where.
calls_of_a_function_without_a_name_are_rows() {
  local leak caller rows='/^ALLOCATED/,/^$/p'
  need_recording
  need_many_blocks
  need cc
  cc -w -O2 -s -Dnoinline=always_inline -o inlined "$source/tests/cli/programs/leaks.c" || fail "not compiled"
  record_by_steps --rate 1e-3 -o t -- ./inlined || fail "$(cat said)"
  succeeds report t
  says 'LEAK LIKELY +inlined\+0x[0-9a-f]+: '
  leak=$(sed -nE 's/^  LEAK LIKELY +(inlined[+]0x[0-9a-f]+):.*/\1/p' out)
  says "grows +${leak/+/[+]} "
  [ "$(sed -n "$rows" out | grep -cE '  inlined[+]0x[0-9a-f]+$')" = 2 ] || fail "not two calls, called by nobody: $(cat out)"
  succeeds report --tree t
  caller=$(grep -oE 'inlined[+]0x[0-9a-f]+$' out | sed -n 2p) # behind _start
  succeeds report --where "fn = \"$leak\"" t
  [ "$(sed -n "$rows" out | grep -cE '  inlined[+]0x[0-9a-f]+$')" = 1 ] || fail "not the leak's call alone: $(cat out)"
  succeeds report --where "fn = \"$caller\"" t
  [ "$(sed -n "$rows" out | grep -cE '  inlined[+]0x[0-9a-f]+$')" = 2 ] || fail "not the calls of the function: $(cat out)"
  succeeds report --wrapper "$leak" t
  ! grep -qE "  ${leak/+/[+]}\$" out || fail "the call counts for itself: $(cat out)"
}

completion_completes_in_fish_and_zsh() {
  export PATH="${winnow%/*}:$PATH" HOME=$PWD
  if command -v fish >/dev/null; then
    fish -c "source '$source/completions/winnow.fish'; complete -C 'winnow rep'" >out 2>err && grep -q '^report' out || fail "fish: $(cat out err)"
    fish -c "source '$source/completions/winnow.fish'; complete -C 'winnow report --no-'" >out 2>err && grep -q '^--no-pager' out || fail "fish: $(cat out err)"
  fi
  ! command -v zsh >/dev/null || zsh -n "$source/completions/_winnow" || fail "zsh"
  command -v fish >/dev/null || command -v zsh >/dev/null || skip "there is neither fish nor zsh"
}

what_became_of_what_was_held_is_told() {
  need_recording
  need_many_blocks
  need gcc
  cat >p.c <<'C'
#include <stdlib.h>
#include <unistd.h>
void *blocks[4000], *volatile last;
__attribute__((noinline)) static void *pass(void) { return malloc(2000); }
__attribute__((noinline)) static void *keep(void) { return malloc(300); }
__attribute__((noinline)) static void *seldom(void) { return malloc(100000); }
int main(void) {
  for (int i = 0; i < 4000; i++) {
    void **block = keep();
    if (block) *block = last, last = block;
    blocks[i] = pass();
    if (i % 1000 == 0) *(void **)seldom() = last;
  }
  for (int i = 0; i < 4000; i++) free(blocks[i]), free(pass());
  _exit(0);
}
C
  gcc -O1 -g -w -o p p.c || fail "gcc"
  record_by_steps --rate 1e-2 -o t -- ./p || fail "$(cat said)"
  succeeds report t
  says 'HELD AT THE PEAK.* trend +allocated by .* freed +pass +p.c:4 .* (at once|uneven|level) +keep +p.c:5 .*ALLOCATED'
  local seed by
  for seed in 1 2 3 4 5 6 7 8; do
    record_by_steps --rate 1e-5 --seed $seed -o t$seed -- ./p || fail "$(cat said)"
    for by in function line stack; do
      "$winnow" report --by $by t$seed | sed -n '/^HELD/,/^ALLOC/p' | grep -E '^ +[0-9.]+ k?M?B ' | grep -v ' more ' >rows
      ! grep -vE '([?]|freed|grows|at once|replaced|late|level|uneven|mapped)  ' rows >blank || fail "by $by, a trend without a word: $(cat blank)"
      cat rows >>all
    done
  done
  grep -q '?  keep' all && grep -q 'freed  pass' all || fail "$(cat all)"
}

stacks_have_their_frames_with_lines() {
  need_recording
  need_many_blocks
  need gcc
  cat >near.c <<'C'
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
void *volatile last;
APART void *place_of_the_block(void) { return malloc(5000); }
APART void calls_to_depth(int depth);
APART void calls_another(int depth) { calls_to_depth(depth - 1); last = (char *)last - depth; }
APART void calls_to_depth(int depth) {
  if (depth) calls_another(depth - 1);
  else last = place_of_the_block();
  last = (char *)last + depth;
}
C
  cat >far.c <<'C'
void calls_to_depth(int depth);
__attribute__((noinline)) void brief_one(void) { calls_to_depth(0); __asm__(""); }
__attribute__((noinline)) void deep_one(void) { calls_to_depth(60); __asm__(""); }
int main(void) {
  for (int i = 0; i < 3000; i++) {
    brief_one();
    deep_one(), deep_one();
  }
}
C
  gcc -O1 -g -fno-optimize-sibling-calls -o p near.c far.c || fail "gcc"
  "$winnow" record -q --rate 1e-2 -o t -- ./p >said 2>&1 || fail "$(cat said)"
  COLUMNS=100 succeeds report --by stack t
  says ' place_of_the_block  near.c:4 +< calls_to_depth near.c:9 < calls_another:6 < calls_to_depth:8 .* < [(][0-9]+ more[)] < main far.c:7 '
  says ' place_of_the_block  near.c:4 +< calls_to_depth near.c:9 < brief_one far.c:2 < main far.c:6 '
  sed -n '/^HELD/,/^$/p' out | sed -n '4,6p' >deep # three lines: 63 callers, with those that are left out
  [ "$(grep -o '< [a-z]' deep | wc -l)" = $((63 - $(sed -n 's/.*(\([0-9]*\) more.*/\1/p' deep))) ] || fail "$(cat deep)"
  [ "$(grep -c '^            < ' out)" -ge 4 ] && [ "$(wc -l <out)" -le 40 ] || fail "$(cat out)"
  grep -v winnow out | sed 's/[^ -~]/x/g' >plain
  [ "$(columns_of_widest plain)" -le 100 ] || fail "$(cat out)"
}
