# Traces with a bound, and their histories; sourced by run.
# shellcheck shell=bash disable=SC2154

files() { # FILE...: exactly these are here, besides what the test itself wrote
  local found
  found=$(find . -mindepth 1 ! -name out ! -name err ! -name plain ! -name said -printf '%P\n' | sort | tr '\n' ' ')
  [ "$found" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] || fail "files: $found"
}

histories_go_where_their_traces_go() {
  need_recording
  make plain plain
  # A trace that a new recording replaces goes with its history, also if only that is left.
  for name in t t.history t.history.new; do cp plain $name; done
  run record -q -r 1 -o t -- true
  files t
  cp plain t.history
  rm t
  run record -q -r 1 -o t -- true
  files t
  # What is no trace stays.
  rm t
  echo text >t.history
  run record -q -r 1 -o t -- true
  files t t.history
  # So do those in a folder.
  rm t t.history
  mkdir t
  for name in 1.2.trace 1.2.trace.history 1.2.trace.history.new 3.4.trace.history 5.6.trace.history.new; do cp plain t/$name; done
  run record -q -r 1 -o t -- true
  files t
  rm t
  mkdir t
  touch t/1.2.history
  run record -q -o t -- true
  [ "$code" = 1 ] && grep -q 'other files, such as 1.2.history' err || fail "code $code: $(cat err)"
  # The only trace of a folder becomes FILE, with its history, over that of an earlier one.
  rm -r t
  cp plain t.history
  run record -r 1 -o t -- sh -c 'echo one; for trace in t/*.trace; do cp plain $trace.history; cp plain $trace.history.new; done'
  [ "$code" = 0 ] && grep -q '^winnow: wrote t (' err || fail "code $code: $(cat err)"
  files t t.history
  cmp -s plain t.history || fail "another history"
  # The size that is printed is that of both.
  local size
  size=$(($(du -B1 t t.history | awk '{ sum += $1 } END { print sum }') / 1000))
  grep -q "wrote t (\($size\|$((size + 1))\|[0-9.]* MB\)" err || fail "$size: $(cat err)"
  # A name that is taken: it stays a folder.
  rm t
  echo text >t.history
  run record -r 1 -o t -- sh -c 'echo one; for trace in t/*.trace; do cp plain $trace.history; done'
  grep -q '^winnow: wrote t, a folder of 1 trace ' err && [ "$(find t -name '*.trace.history' | wc -l)" = 1 ] && [ "$(cat t.history)" = text ] ||
    fail "$(find . | tr '\n' ' ') $(cat err)"
}

histories_are_no_traces_of_their_own() {
  make plain a.trace
  make one c.trace
  cp a.trace a.trace.history
  cp a.trace a.trace.history.new
  succeeds info .
  says 'a.trace .* all 2'
  ! grep -q history out || fail "$(cat out)"
  succeeds info 'a.trace*'
  ! grep -q history out || fail "$(cat out)"
  rm a.trace.history.new
  mv a.trace.history b.trace.history # of no trace
  succeeds info .
  says 'b.trace.history'
}

compact_refuses_what_is_no_trace() {
  refused 2 'which trace' compact
  refused 2 'which trace' compact ''
  refused 2 '--max-trace 10: it must be a size' compact -m 10 t
  refused 2 '--max-trace much: it must be' compact --max-trace much t
  WINNOW_MAX_TRACE=much refused 2 'WINNOW_MAX_TRACE=much: it must be' compact t
  refused 2 "option '--max-trace' needs a value" compact --max-trace
  refused 1 'cannot open t: No such file' compact t
  refused 1 'there is no process 4194399' compact 4194399
  mkdir folder
  refused 1 'folder: no file in it is a trace' compact folder
  refused 1 'no file of such a name is a trace' compact 'folder/*'
  echo text >text
  refused 1 '^winnow: text is no trace of Winnow$' compact text
  : >empty
  refused 1 '^winnow: empty is no trace of Winnow$' compact empty
  make plain t
  cp t t.history
  refused 1 't.history is the history of a trace' compact t.history
  "$build/tests/cli/make_memtrace" m 600 1 || fail "no Memtrace file"
  refused 1 '^winnow: m is no trace of Winnow$' compact m
}

compact_has_nothing_to_do_with_small_traces() {
  make plain t
  cp t before
  succeeds compact t
  grep -Eqx 'winnow: t: nothing to do: it takes [0-9.]+ k?B of 64[.]0 MB' out || fail "$(cat out)"
  succeeds compact -q t
  [ ! -s out ] || fail "$(cat out)"
  mkdir folder
  cp t folder/a.trace
  cp t folder/b.trace
  WINNOW_MAX_TRACE=128M succeeds compact folder
  grep -qx 'winnow: nothing to do: none of 2 traces is too large for 128 MB' out || fail "$(cat out)"
  succeeds compact t 'folder/*'
  grep -q 'none of 3 traces' out || fail "$(cat out)"
  cmp -s t before && cmp -s folder/a.trace before || fail "a trace has changed"
  [ "$(find . -name '*.history*' | wc -l)" = 0 ] || fail "$(find .)"
  # One that fails does not keep the others from being looked at.
  run compact none t
  [ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "code $code: $(cat out err)"
}

# A trace that is larger than the least bound.
make_large() { make many "$1" 400000; }
disk() { du -B1 -c "$@" | tail -n 1 | cut -f 1; } # FILE...: what they take

compacted_traces_fit_their_bound() {
  need_many_blocks
  local bound=4000000 line='[0-9.]+ MB → [0-9.]+ [kM]B, [0-9,]+ chunks?, [0-9.]+( million|,[0-9]+)? samples → [0-9.,]+( million)?'
  mkdir folder
  make_large folder/a.trace
  make plain folder/b.trace
  cp folder/b.trace before
  local large
  large=$(disk folder/a.trace)
  [ "$large" -gt $bound ] || fail "the trace takes only $large"
  succeeds compact -m $bound folder
  grep -Eqx "winnow: folder/a[.]trace: $line" out && [ "$(wc -l <out)" = 1 ] || fail "$(cat out)"
  [ "$(disk folder/a.trace folder/a.trace.history)" -le $bound ] || fail "it takes $(disk folder/*)"
  [ ! -e folder/b.trace.history ] && cmp -s folder/b.trace before || fail "a small trace was changed"
  [ ! -e folder/a.trace.history.new ] || fail "a half history is left"
  succeeds report folder/a.trace
  succeeds compact -m $bound folder
  grep -q 'nothing to do: none of 2 traces' out || fail "$(cat out)"
  make_large t.trace
  succeeds compact -q --max-trace $bound t.trace
  [ ! -s out ] && [ -e t.trace.history ] || fail "$(cat out)"
}

# What a history had taken over is known to be missing where the trace is alone.
traces_without_their_history_say_so() {
  need_many_blocks
  local bound=4000000 gone='what was recorded from 0 s to [^ ]+ [a-z]+ is missing, since its history, a file named like it with .history at the end, is missing or older'
  make_large a.trace
  succeeds compact -q -m $bound a.trace
  succeeds info --json a.trace
  [ "$(jq -r 'has("dropped")' out)" = false ] || fail "$(cat out)"
  mkdir alone
  cp --sparse=always a.trace alone/a.trace
  succeeds info --json alone/a.trace
  [ "$(jq -c '[.lacks_history, .dropped[0].from_ns]' out)" = '[true,0]' ] || fail "$(cat out)"
  [ "$(jq '.dropped[0].until_ns >= .duration_ns' out)" = true ] || fail "$(cat out)"
  succeeds info alone/a.trace
  tr -s ' \n' ' ' <out | grep -Eq "missing $gone" || fail "$(cat out)"
  succeeds report alone/a.trace
  grep -q 'incomplete, ± is of what was recorded' out || fail "$(cat out)"
  tr -s ' \n' ' ' <out | grep -Eq "INCOMPLETE $gone" || fail "$(cat out)"
  # A trace that is compacted anew without it goes on to say so.
  succeeds compact -q -m $bound alone/a.trace
  succeeds dump -o whole.trace alone/a.trace
  for trace in alone/a.trace whole.trace; do
    succeeds info --json $trace
    [ "$(jq '.dropped[0].until_ns >= .duration_ns' out)" = true ] || fail "$trace: $(cat out)"
  done
}

# Holes would be in both, and the history beside one.
traces_with_several_names_are_not_compacted() {
  need_many_blocks
  make_large t
  ln t other
  cp t before
  refused 1 '^winnow: t has 2 names [(]hard links[)]: .*; copy it$' compact -m 4000000 t
  cmp -s t before && [ ! -e t.history ] && [ ! -e t.history.new ] || fail "the trace has changed: $(ls)"
  cp t copy
  succeeds compact -m 4000000 copy
  [ -e copy.history ] && [ ! -e t.history ] || fail "$(ls)"
  rm other
  succeeds compact -m 4000000 t
  [ -e t.history ] || fail "$(ls)"
}

# One of two takes the trace; the other one says so, and changes nothing.
two_compactions_of_a_trace_do_no_harm() {
  need_many_blocks
  local attempt i busy=0
  make_large whole
  for attempt in $(seq 20); do
    cp whole t
    rm -f t.history*
    for i in 1 2 3 4; do
      ("$winnow" compact -m 4000000 t >out.$i 2>err.$i; echo $? >code.$i) &
    done
    wait
    for i in 1 2 3 4; do
      case $(cat code.$i) in
        0) [ ! -s err.$i ] || fail "$(cat err.$i)" ;;
        1) [ "$(wc -l <err.$i)" = 1 ] && [ ! -s out.$i ] && grep -q '^winnow: .*t.*another process' err.$i && busy=1 || fail "$(cat err.$i out.$i)" ;;
        *) fail "code $(cat code.$i)" ;;
      esac
    done
    [ "$(disk t t.history)" -le 4000000 ] || fail "it takes $(disk t t.history)"
    [ $busy = 0 ] || return 0
  done
  skip "no two ran at once"
}

# A shell that allocates until a command of its own succeeds.
allocates_until() { echo "until $1; do for i in {1..2000}; do :; done; done"; } # COMMAND

bounded_recordings_are_compacted_while_they_run() {
  need_recording
  need_many_blocks
  local bound=4194304
  run record -r 1 --max-trace $bound -o t -- bash -c "$(allocates_until 'compgen -G "t/*.trace.history" >/dev/null'); exit 7"
  [ "$code" = 7 ] && grep -q '^winnow: wrote t (' err || fail "code $code: $(cat err)"
  ! grep -q 'compaction' err || fail "$(cat err)"
  files t t.history
  [ "$(disk t t.history)" -le $bound ] || fail "it takes $(disk t t.history)"
  local size
  size=$(awk -v n="$(disk t t.history)" 'BEGIN { printf "%.3g", n / (n < 999500 ? 1e3 : 1e6) }')
  grep -Eq "wrote t \($size[.0]* [kM]B, " err || fail "$size: $(cat err)"
  run report t
  [ "$code" = 0 ] || fail "report: $(cat err)"
  # Each trace of a folder.
  local both='found=(u/*.trace.history); [ ${#found[@]} -ge 2 ]' # without a fork
  both=$(allocates_until "{ $both; }")
  run record -f -r 1 -m $bound -o u/ -- bash -c "bash -c '$both; exit' & $both; wait"
  [ "$code" = 0 ] || fail "code $code: $(cat err)"
  local trace
  [ "$(find u -name '*.trace.history' | wc -l)" -ge 2 ] || fail "$(find u)"
  for trace in u/*.trace.history; do
    trace=${trace%.history}
    [ -e "$trace" ] && [ "$(disk "$trace" "$trace.history")" -le $bound ] || fail "$trace takes $(disk "$trace"*)"
  done
}

# Where memory is short the compaction is killed, not the program; and the program gets ten times as much of a processor.
compactions_give_way_to_the_program() {
  need_recording
  need_many_blocks
  [ -e /proc/$$/task/$$/children ] || skip "children of processes are not known"
  local gives_way='for p in $(</proc/$PPID/task/$PPID/children); do [ $p != $$ ] && read -r oom </proc/$p/oom_score_adj && read -r s </proc/$p/stat && set -- ${s##*) } && [ "$oom ${17}" = "1000 10" ] && touch t/yes && break; done 2>/dev/null; [ -e t/yes ]'
  run record -q -r 1 -m 4194304 -o t/ -- bash -c "$(allocates_until "{ $gives_way; }")"
  [ "$code" = 0 ] && [ -e t/yes ] || fail "code $code: $(cat err)"
  make_large whole
  local attempt seen= oom
  for attempt in $(seq 50); do
    cp whole u
    rm -f u.history
    "$winnow" compact -q -m 4000000 u &
    while [ -e /proc/$!/oom_score_adj ] && [ -z "$seen" ]; do
      read -r oom </proc/$!/oom_score_adj && [ "$oom" = 1000 ] && seen=yes
    done 2>/dev/null
    wait $!
    [ -z "$seen" ] || return 0
  done
  fail "the compaction was never seen with 1000"
}

# The field of /proc/PID/stat that counts page faults of children: there was one that has been waited for.
compactions_that_fail_are_said_once() {
  need_recording
  need_many_blocks
  local waited='{ read -r s </proc/$PPID/stat && set -- ${s##*) } && [ $9 -gt 0 ]; }'
  run record -q -r 1 -m 4194304 -o t -- bash -c "echo one; for t in t/*.trace; do mkdir \$t.history \$t.history.new; done; $(allocates_until "$waited"); exit 3"
  [ "$code" = 3 ] || fail "code $code: $(cat err)"
  grep -Eq '^winnow: compaction to 4.19 MB failed( [0-9]+ times)?: ' err && [ "$(grep -c compaction err)" = 1 ] || fail "$(cat err)"
}

# A new history would count as whole. The program damages the one that it has while no compaction runs, and waits for the next.
a_damaged_history_is_left_alone() {
  need_recording
  need_many_blocks
  [ -e /proc/$$/task/$$/children ] || skip "children of processes are not known"
  # shellcheck disable=SC2016
  local idle='read -r children </proc/$PPID/task/$PPID/children; [ "$children" = $$ ]'
  # shellcheck disable=SC2016
  local faults='read -r s </proc/$PPID/stat && set -- ${s##*) } && faults=$9'
  local damage="until { $idle; } && h=\$(echo t/*.history) && printf %0200d 0 | dd of=\$h bs=1 seek=\$((\$(stat -c %s \$h) / 2)) conv=notrunc status=none && { $idle; }; do sleep 0.01; done"
  run record -q -r 1 -m 4194304 -o t -- bash -c "$(allocates_until 'compgen -G "t/*.trace.history" >/dev/null'); $damage; $faults; before=\$faults; $(allocates_until "{ $faults && [ \$faults -gt \$before ]; }"); exit 3"
  [ "$code" = 3 ] && [ "$(grep -c compaction err)" = 1 ] || fail "code $code: $(cat err)"
  grep -Eq '^winnow: compaction to 4.19 MB failed( [0-9]+ times)?: the history of t/.*[.]trace is damaged or cannot be read; it is not compacted' err || fail "$(cat err)"
  succeeds info --json t
  [ "$(jq '.damaged_chunks > 0' out)" = true ] || fail "$(cat out)"
  refused 1 'the history of t is damaged' dump -o copy t
  [ ! -e copy ] || fail "a copy is left"
}

bounded_recordings_pass_signals_on() {
  need_recording
  mkfifo ready
  (trap '' CHLD; exec "$winnow" record -q -m 64M -o t -- bash -c 'trap "exit 5" TERM; echo >ready; while :; do sleep 0.01; done' 2>err) &
  read -r _ <ready
  kill -TERM $!
  wait $!
  [ $? = 5 ] && [ ! -s err ] || fail "code $?: $(cat err)"
  { "$winnow" record -q -m 64M -o t -- bash -c 'kill -KILL $$' 2>err; } 2>/dev/null
  [ $? = 137 ] && [ ! -s err ] || fail "code $?: $(cat err)"
  run record -q -m 64M -o t -- sh -c 'exit 9'
  [ "$code" = 9 ] && [ ! -s err ] || fail "code $code: $(cat err)"
  refused 2 '--max-trace 10: it must be' record -m 10 -o t -- true
}

# What root makes for another user is the user's, and no link of the user leads elsewhere.
root_compacts_as_the_user_of_the_trace() {
  need_many_blocks
  [ "$(id -u)" = 0 ] || skip "this needs root"
  install -d -o 65534 folder
  make_large folder/t
  chown 65534:65534 folder/t
  echo secret >target
  chmod 600 target
  ln -s "$PWD/target" folder/t.history.new
  run compact -q -m 4000000 folder/t
  [ "$code" = 0 ] && [ "$(stat -c '%u %g %a' folder/t.history)" = '65534 65534 600' ] || fail "code $code: $(cat err) $(ls -l folder)"
  [ "$(cat target)" = secret ] || fail "the target of a link was written"
  install -d -m 755 other
  make_large other/t
  chown 65534 other/t
  run compact -q -m 4000000 other/t
  [ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e other/t.history ] || fail "code $code: $(cat err)"
}
