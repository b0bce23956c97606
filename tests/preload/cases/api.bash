# winnow/malloc.h in a linked program, and the names that stacks get.

linked() { # CASE
  run_as linked "$programs/api" "$1"
  [ "$(cat linked.code)" = 0 ] || fail "$1: ended with $(cat linked.code): $(cat linked.err)"
  local what got expected
  while read -r what got expected; do counted "$1: $what" "$got" "$expected"; done <linked.out
}

profiles_start_stop_and_end_in_any_order() { linked orders; } # L2
stopped_profiles_follow_their_blocks() { linked stopped_profile_follows; } # L6
callbacks_may_allocate() { linked callbacks_allocate; } # T3
null_metadata_ends_tracking() { linked null_metadata_ends_it; } # B5
resize_callback_sees_every_size() { linked resizes; } # B8
profiles_take_in_all_threads() { linked all_threads; } # T7
profiles_leave_no_memory_behind() { linked cycles; } # L11
profiles_come_and_go_while_threads_allocate() { linked cycles_with_threads; }
forked_children_inherit_the_profile() { linked child_inherits; } # T13
what_a_drop_callback_frees_is_told() { linked drop_frees; }

# At each instruction of what is interrupted.
interrupted() { # CASE
  run_as interrupted "$programs/interrupted" "$1"
  [ "$(cat interrupted.code)" = 77 ] && skip "this processor is not known to interrupt itself"
  [ "$(cat interrupted.code)" = 0 ] || fail "$1: ended with $(cat interrupted.code): $(cat interrupted.err)"
}
what_handlers_free_while_a_thread_ends_is_told() { interrupted end; } # T6
what_handlers_resize_while_a_thread_begins_is_told() { interrupted begin; }
what_handlers_free_during_a_discard_is_told() { interrupted discard; }
what_handlers_resize_during_a_free_is_told() { interrupted release; }

recorded_programs_cannot_start_a_second_profile() {
  ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/api" while_recorded
  opens trace
}

stacks_name_the_functions() { # B10
  record --rate 1 -- "$programs/depth" || fail "ended with $?"
  [ "$tiny" = 1 ] && { opens trace; return; }
  local level
  for level in $(seq 12); do
    counted "bytes below level_$level" "$(figure .totals.allocated_bytes.estimate trace --where "fn = level_$level")" $(((13 - level) * 10000))
  done
  # The deepest stack, from main on, frame by frame, and nothing between.
  "$winnow" report --json --top 1000000 --at end --where 'fn = level_12' trace >report.json || fail "no report"
  local chain
  chain=$(jq -r '[.tree | recurse(.children[]) | .name] | join(" ")' report.json)
  case "$chain" in
  *" main level_1 level_2 level_3 level_4 level_5 level_6 level_7 level_8 level_9 level_10 level_11 level_12"*) ;;
  *) fail "the deepest stack is: $chain" ;;
  esac
  "$winnow" report --json --at end --where 'fn = recurse' trace >report.json
  [ "$(jq '[.tree | recurse(.children[]) | select(.name == "recurse")] | length' report.json)" = 61 ] ||
    fail "the recursion has $(jq '[.tree | recurse(.children[]) | select(.name == "recurse")] | length' report.json) levels"
  counted "through the C library" "$(figure .totals.allocated_bytes.estimate trace --where 'fn = compare and fn ~ qsort and fn = main')" 24
}

stacks_are_as_deep_as_asked() { # B11
  [ "$tiny" = 1 ] && skip "stacks are short here"
  for depth in 0 1 50; do
    record --rate 1 --stack-depth $depth -- "$programs/depth" || fail "ended with $?"
    "$winnow" report --json --at end --where 'size = 5000' trace >report.json
    found=$(jq '[.tree | recurse(.children[]) | select(.name == "recurse")] | length' report.json)
    [ "$found" = "$depth" ] || fail "$found frames of $depth: $(jq -c .tree report.json | head -c 500)"
    found=$(jq '[.tree | recurse(.children[]) | select(.name == "(cut)")] | length' report.json)
    [ "$found" = $((depth > 0)) ] || fail "$found frames say at depth $depth that stacks are cut"
  done
  # What is missing is said, and in each export the missing callers are a frame.
  jq -e '.trace.stacks_cut > 0' report.json >/dev/null || fail "cut: $(jq .trace.stacks_cut report.json)"
  "$winnow" report --all trace | grep -Eq '^  Callstacks cut \(--stack-depth\) +[0-9]+' || fail "the report hides that stacks are cut"
  "$winnow" info trace | grep -q '^missing .*the outermost callers of [0-9]* blocks\?, since callstacks are cut after 50 frames' || fail "info hides that stacks are cut"
  "$winnow" info --json trace | jq -e '.stacks_cut > 0' >/dev/null || fail "info --json"
  for format in folded speedscope firefox dhat csv json; do
    "$winnow" export -f $format --by stack trace 2>/dev/null | grep -q '(cut)' || "$winnow" export -f $format trace | grep -q '(cut)' || fail "$format hides that stacks are cut"
  done
  record --rate 1 -- "$programs/depth" || fail "ended with $?"
  "$winnow" info --json trace | jq -e '.stacks_cut == 0' >/dev/null || fail "whole stacks are said to be cut"
}
