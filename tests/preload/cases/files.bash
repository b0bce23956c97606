# Descriptors, folders and limits: the program's files are never touched by us, whatever becomes of the trace.

descriptors_of_the_program_are_never_written() {
  ulimit -n 1024
  for rate in 1 1e-2; do same_as_bare $rate "$programs/descriptors" closefrom; done
  grep -q "files 1 damaged 0" recorded.out || fail "$(cat recorded.out)"
  record --rate 1 -- "$programs/descriptors" closefrom >/dev/null
  opens trace
  ulimit -n 256 # ours cannot keep away from the small numbers
  for rate in 1 1e-2; do same_as_bare $rate "$programs/descriptors" closefrom; done
  grep -q "damaged 0" recorded.out || fail "$(cat recorded.out)"
}

the_trace_goes_on_after_descriptors_are_closed() {
  same_as_bare 1 "$programs/descriptors" closeloop
  record --rate 1 -- "$programs/descriptors" closeloop >/dev/null
  opens trace
  counted "blocks" "$(figure .totals.allocated_blocks.estimate trace --where 'fn ~ close_again')" 90000
}

daemons_are_left_alone() {
  same_as_bare 1 "$programs/descriptors" daemon
  opens trace
}

a_changed_root_does_no_harm() {
  [ "$(id -u)" = 0 ] || skip "only root changes the root"
  mkdir root
  same_as_bare 1 "$programs/descriptors" chroot "$PWD/root"
  [ -z "$(ls -A root)" ] || fail "something was made in the new root"
  opens trace
}

the_umask_is_the_programs() {
  umask 022
  same_as_bare 1 "$programs/descriptors" umask
  rm -f masked trace
  record --rate 1 -- "$programs/descriptors" umask >out
  [ "$(stat -c %a trace)" = 644 ] || fail "the trace has mode $(stat -c %a trace)"
}

a_limit_of_file_sizes_kills_nobody() {
  same_as_bare 1 "$programs/descriptors" fsize
  record --rate 1 -- "$programs/descriptors" fsize >/dev/null || fail "ended with $?"
  opens trace
  [ "$tiny" = 1 ] || [ "$(jq .lost info.json)" -gt 0 ] || fail "a trace of $(stat -c %s trace) bytes lost nothing"
  [ "$(stat -c %s trace)" -le 4194304 ] || fail "the trace has $(stat -c %s trace) bytes"
}

# The command refuses where the trace cannot be begun; it does so before the program runs.
a_folder_that_cannot_be_written_is_refused() {
  [ -d /proc/self ] || skip "no /proc"
  run_as refused "$winnow" record -o /proc/self/trace -- touch ran
  [ "$(cat refused.code)" = 1 ] || fail "exit code $(cat refused.code)"
  one_line_of refused.err 'cannot write /proc/self/trace'
  [ ! -e ran ] || fail "the program ran"
}

# The library by hand, where nobody looked beforehand.
# What record tells to type next can be typed, wherever winnow stands and whatever the trace is called.
the_next_command_can_be_typed() {
  local name
  for name in here.trace "it's a blank.trace" "folder/trace" "$work/whole.trace"; do
    mkdir -p folder
    "$winnow" record -o "$name" -- true 2>said
    grep -q "^winnow: wrote $name (" said || fail "$name: $(cat said)"
    sh -c "$(sed 's/.*; now: //' said)" >report || fail "$(cat said)"
    grep -q '^true ran for' report || fail "$name: $(cat report)"
  done
  PATH=$(dirname "$winnow"):$PATH winnow record -o last -- true 2>said
  grep -q 'now: winnow report last$' said || fail "$(cat said)"
}

without_a_trace_the_program_goes_on() {
  for path in /proc/nowhere/trace "$PWD" /dev/null ""; do
    WINNOW_TRACE=$path LD_PRELOAD=$library "$programs/ends" return 2>err
    [ $? = 4 ] || fail "'$path': ended with $?"
    [ -z "$path" ] || one_line_of err '^winnow: .*going on unprofiled$'
  done
}
