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
