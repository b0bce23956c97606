# Control groups with a limit of memory: what traces have of them, and of programs that were killed for it.

# Makes a group below our own, with a limit: `group` is its folder, and `in_group` begins a command in it. Skips where none can be made.
make_group() { # BYTES
  local own root=/sys/fs/cgroup/memory file=memory.limit_in_bytes
  own=$(sed -n 's/^[0-9]*:\([a-z_,]*,\)*memory\(,[a-z_,]*\)*://p' /proc/self/cgroup)
  [ -n "$own" ] || { own=$(sed -n 's/^0:://p' /proc/self/cgroup) root=/sys/fs/cgroup file=memory.max; }
  group=$root$own/winnow-test-$$
  mkdir "$group" 2>/dev/null || skip "no control group can be made"
  trap 'cd /; leave_group; rm -rf "$work"' EXIT
  { echo "$1" >"$group/$file"; } 2>/dev/null || skip "no limit of memory can be set"
  [ ! -e "$group/memory.memsw.limit_in_bytes" ] || echo "$1" >"$group/memory.memsw.limit_in_bytes"
  [ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
  # shellcheck disable=SC2016
  in_group=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
}

# The last process may still be giving back its memory.
leave_group() { local _; for _ in {1..200}; do rmdir "$group" 2>/dev/null && break; done; }

events() { "$winnow" dump "${1:-trace}" | grep " $2 "; } # TRACE KIND

the_limit_of_the_group_is_in_the_trace() {
  make_group 256000000
  "${in_group[@]}" "$winnow" record -q -o trace -- "$programs/ends" return
  local limit
  limit=$(cat "$group"/memory.limit_in_bytes "$group"/memory.max 2>/dev/null)
  events trace group | tail -n 1 | grep -q " limit=$limit .*kills=0 " || fail "$(events trace group)"
  ended 'yes: exit 4'
}

a_program_killed_for_memory_ends_so() {
  make_group 64000000
  run_as killed "${in_group[@]}" "$winnow" record -o trace -- "$programs/leaks_until_killed"
  [ "$(cat killed.code)" = 137 ] || skip "the system kills nothing in a group: exit $(cat killed.code)"
  grep -q '^winnow: the system killed .*leaks_until_killed for memory (limit 64[.]0 MB)$' killed.err || fail "$(cat killed.err)"
  opens trace
  ended 'yes: signal 9: killed for memory$'
  facts trace | grep -q '^limit  *64[.]0 MB' || fail "$(facts trace)"
  "$winnow" report trace >out
  head -n 1 out | grep -q 'killed for memory (limit 64[.]0 MB)' || fail "$(cat out)"
  grep -q 'HELD AT THE END' out || fail "$(cat out)"
  [ "$(figure .question)" = at:end ] || fail "$(figure .question)"
  [ "$(figure '[.sites[] | select(.self_bytes.estimate > 0)][0].name')" = leak ] || fail "$(head -c 300 report.json)"
}

# Without `winnow record`: the trace has no end. A service that was killed with the same limit, but at once, is another matter.
a_service_was_probably_killed_for_memory() {
  [ "$tiny" = 1 ] && skip "its tables hold too few blocks"
  make_group 64000000
  run_as killed "${in_group[@]}" env LD_PRELOAD="$library" WINNOW_TRACE=trace "$programs/leaks_until_killed"
  [ "$(cat killed.code)" = 137 ] || skip "the system kills nothing in a group: exit $(cat killed.code)"
  ended 'no: probably killed for memory$'
  "$winnow" report trace >out
  head -n 1 out | grep -q 'probably killed for memory (limit 64[.]0 MB)' || fail "$(cat out)"
  [ "$(figure .question)" = at:end ] || fail "$(figure .question)"
  run_as killed "${in_group[@]}" env LD_PRELOAD="$library" WINNOW_TRACE=other "$programs/ends" kill
  [ "$(cat killed.code)" = 137 ] || fail "exit $(cat killed.code)"
  "$winnow" report other >out
  head -n 1 out | grep -q 'no end recorded' || fail "$(cat out)"
}

a_program_killed_by_another_is_not_killed_for_memory() {
  make_group 256000000
  run_as killed "${in_group[@]}" "$winnow" record -o trace -- "$programs/ends" kill
  [ "$(cat killed.code)" = 137 ] || fail "exit $(cat killed.code)"
  ! grep -q 'for memory' killed.err || fail "$(cat killed.err)"
  ended 'yes: signal 9 [(]Killed[)]'
}
