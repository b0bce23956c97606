# Disks that are full, or cannot reserve: the trace loses records and says so, the program notices nothing.
# Each case runs again in a mount namespace of its own, where it may mount what nobody else sees.

privately() { # KIND [OPTION...]: goes on, in the second run, with a file system of that kind at `disk`, and `trace` a folder of it, which cannot become a file
  local namespace=(unshare -m)
  [ "$(id -u)" = 0 ] || namespace=(unshare -rm)
  if [ -z "${WINNOW_PRIVATELY:-}" ]; then
    need unshare
    mkdir disk
    "${namespace[@]}" mount -t "$1" none "$PWD/disk" 2>/dev/null || skip "cannot mount $1 here, even privately"
    WINNOW_PRIVATELY=1 "${namespace[@]}" "$here/run" "$case" "$build"
    exit $?
  fi
  mkdir disk
  mount -t "$@" none "$PWD/disk" || fail "cannot mount $*"
  trap 'cd /; umount "$work/trace" "$work/disk"; rm -rf "$work"' EXIT
  mkdir disk/trace trace
  mount --bind disk/trace trace || fail "cannot mount a folder"
}

a_full_disk_disturbs_nobody() {
  privately tmpfs -o size=200k
  local command
  while read -r command; do
    eval "same_as_bare 1 $command"
    opens trace
    [ "$(jq .complete info.json)" = true ] || fail "$command: the end is missing"
    [ "$tiny" = 1 ] && continue # too few blocks are followed to fill a disk
    [ "$(jq .lost info.json)" -gt 0 ] || fail "$command: nothing was lost"
    "$winnow" report --all trace | grep -Eq '^  Records lost +[0-9][0-9a-z., ]+' || fail "$command: the report hides it: $("$winnow" report --all trace | head -n 8)"
  done <<'END'
"$programs/threads" storm
"$programs/threads" many
"$programs/random_blocks" 4 20000
END
  [ "$tiny" = 1 ] && return
  "$winnow" record -o trace --rate 1 -- "$programs/threads" storm >out 2>said
  grep -Eq 'wrote trace, a folder of 1 trace of 1 process \(.*; [0-9][0-9a-z., ]+ records lost\); in a browser: ' said || fail "$(cat said)"
}

# The program ran well, so its exit code stays; but nobody may take a part for the whole.
a_full_disk_is_told_and_its_part_is_no_total() {
  privately tmpfs -o size=200k
  local command
  [ "$tiny" = 1 ] && return # too few blocks are followed to fill a disk
  "$winnow" record -o trace --rate 1 -- "$programs/threads" storm >out 2>said || fail "ended with $?"
  grep -q '^winnow: the disk was full, so the trace is incomplete; make room, or write to another disk (-o), or record less' said || fail "$(cat said)"
  "$winnow" report --all trace | tr -s '\n ' ' ' >report
  grep -Eq 'INCOMPLETE +[0-9][0-9a-z., ]+ records lost \(the disk was full\): the numbers are of a part of the run' report || fail "$(head -c 900 report)"
  "$winnow" report trace | grep -q '  trend  ' && fail "rows have trends of a part: $("$winnow" report trace)"
  for command in "export -f folded" dump; do
    "$winnow" $command trace/* >out 2>said || fail "$command ended with $?"
    one_line_of said '^winnow: trace/.* is incomplete: [0-9][0-9a-z., ]+ records lost, since the disk was full$'
  done
  facts | grep -q 'every block, but records are missing' || fail "$(facts)"
  ! grep -Eq 'IS MADE OF|malloc blocks' report || fail "the parts of a part do not add up: $(head -c 1500 report)"
  grep -Eq 'Resident at most +[0-9.]+ .?B +by the kernel.s count; what it was made of is not known' report || fail "$(head -c 1500 report)"
  [ "$(figure '.totals | .allocated_bytes.estimate >= .peak_bytes.estimate')" = true ] || fail "$(jq -c .totals report.json)"
  [ "$(jq -c '.resident | [.explained, .parts]' report.json)" = '[false,[]]' ] || fail "$(jq -c .resident report.json)"
  facts trace | grep -q '^missing .*lost (the disk was full)' || fail "$(facts trace)"
  [ "$(figure .trace.lost_because)" = disk ] && [ "$(jq .trace.partial report.json)" = true ] || fail "$(jq .trace report.json)"
  "$winnow" record -q -o trace --rate 1 -- "$programs/threads" storm 2>said || fail "ended with $?"
  one_line_of said '^winnow: the disk was full, so the trace is incomplete; ' # all did not go well
}

a_full_disk_is_told_of_children() {
  privately tmpfs -o size=200k
  [ "$tiny" = 1 ] && return
  cd disk || fail "no disk"
  "$winnow" record -f -o small --rate 1 -- sh -c '"$0" storm; exit 3' "$programs/threads" >"$work/out" 2>"$work/said"
  [ $? = 3 ] || fail "another exit code"
  grep -q '^winnow: the disk was full, so some of these traces are incomplete; ' "$work/said" || fail "$(cat "$work/said")"
  grep -Eq '  small/[0-9.]+trace +threads storm \(records are missing\)$' "$work/said" || fail "$(cat "$work/said")"
}

a_disk_that_is_full_from_the_start_disturbs_nobody() {
  privately tmpfs -o size=200k
  cat /dev/zero >disk/filler 2>/dev/null
  run_as bare "$programs/ends" return
  run_as full "$winnow" record -o trace --rate 1 -- "$programs/ends" return
  diff bare.code full.code && diff bare.out full.out || fail "the program is disturbed: $(cat full.err)"
  grep -q '^winnow: cannot record: no room for a trace in .*: the disk was full; going on unprofiled$' full.err || fail "$(cat full.err)"
  grep -q '^winnow: nothing was recorded' full.err || fail "$(cat full.err)"
}

# ramfs cannot reserve: the space is made by writing zeros.
a_disk_that_cannot_reserve_is_good_enough() {
  privately ramfs
  ! fallocate -l 4096 disk/some 2>/dev/null || skip "this ramfs can reserve"
  same_as_bare 1 "$programs/random_blocks" 4 20000
  opens trace
  [ "$tiny" = 1 ] || [ "$(jq .lost info.json)" = 0 ] || fail "$(jq .lost info.json) records were lost"
  [ "$(jq .complete info.json)" = true ] || fail "the end is missing"
}
