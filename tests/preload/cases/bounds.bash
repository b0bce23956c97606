# A trace that must not grow beyond a bound (WINNOW_MAX_TRACE).
# shellcheck shell=bash disable=SC2154

# The most disk space that a file takes while a process runs.
most_of() { # FILE PROCESS
  local most=0 now
  while kill -0 "$2" 2>/dev/null; do
    now=$(stat -c '%b' "$1" 2>/dev/null || echo 0)
    ((now > most)) && most=$now
  done
  echo $((most * 512))
}

a_bounded_trace_stays_within_its_part() {
  local size=4000000 process most
  [ "$tiny" = 1 ] && size=1000000
  run_as bare "$programs/random_blocks" 4 100000
  WINNOW_TRACE="$PWD/trace" WINNOW_RATE=1 WINNOW_MAX_TRACE=$size LD_PRELOAD="$library" \
    "$programs/random_blocks" 4 100000 >recorded.out 2>recorded.err &
  process=$!
  most=$(most_of trace $process)
  wait $process || fail "ended with $?: $(cat recorded.err)"
  diff bare.out recorded.out || fail "the program is disturbed"
  [ ! -s recorded.err ] || fail "$(cat recorded.err)"
  ((most > 0 && most <= size / 4)) || fail "$most bytes"
  (($(stat -c %b trace) * 512 <= size / 4)) || fail "$(stat trace)"
  opens trace
  [ "$(jq .complete info.json)" = true ] || fail "the end is missing: $(cat info.json)"
  [ "$tiny" = 1 ] && return # too few blocks are followed
  (($(stat -c %s trace) > size / 2)) || fail "nothing was dropped: $(stat trace)"
}

an_option_bounds_the_trace() {
  "$winnow" record -q --rate 1 --max-trace 4M -o trace -- "$programs/random_blocks" 4 100000 >out 2>err || fail "$(cat err)"
  opens trace
  [ "$(jq .complete info.json)" = true ] || fail "the end is missing: $(cat info.json)"
  (($(stat -c %b trace) * 512 <= 4000000)) || fail "$(stat trace)"
  "$winnow" record -q --max-trace 500K -o trace -- true 2>err && fail "a small bound is taken"
  one_line_of err '^winnow record: --max-trace 500K: it must be a size of at least [14]000000 bytes, such as 64M'
}

# The chunks in which they stood are dropped.
names_and_mappings_are_told_again() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  WINNOW_TRACE="$PWD/trace" WINNOW_RATE=1 WINNOW_MAX_TRACE=12000000 LD_PRELOAD="$library" \
    "$programs/named_once" 900000 2>/dev/null && fail "it was not killed"
  "$winnow" info --json trace >info.json
  [ "$(jq '.dropped | length' info.json)" = 1 ] || fail "nothing was dropped: $(cat info.json)"
  "$winnow" info trace >info
  grep -q '^called *named once' info || fail "$(cat info)"
  "$winnow" dump trace >dump
  grep -q 'the first' dump || fail "$(grep -i name dump)"
  "$winnow" report --json trace | jq -e '.mapped | length == 1 and .[0].mapped_bytes == 8388608 and .[0].resident_bytes > 8e6' ||
    fail "$(grep -i ' map' dump)"
}
