# What the program maps itself, beside malloc.

mapped() { jq -r --arg name "$1" "[.mapped[] | select(.name == \$name) | .$2] | add // 0" report.json; } # FUNCTION MEMBER

near() { # WHAT FOUND WANTED: within a twentieth, and 200 kB
  awk -v found="$2" -v wanted="$3" 'BEGIN { off = found - wanted; if (off < 0) off = -off; exit off > wanted / 20 + 200000 }' ||
    fail "$1: $2, not $3"
}

mappings_are_told_with_their_callers() {
  need jq
  same_as_bare 1e-2 "$programs/maps" sizes
  record -- "$programs/maps" sizes >/dev/null || fail "maps failed"
  figure . >/dev/null
  [ "$(mapped arena mapped_bytes)" = $((37 << 20)) ] || fail "arena: $(jq -c .mapped report.json)"
  jq -e '.mapped[] | select(.name == "arena") | .callers | .[0] == "sizes" and .[1] == "main"' report.json >/dev/null || fail "callers of arena: $(jq -c .mapped report.json)"
  near "arena, resident" "$(mapped arena resident_bytes)" $((37 << 20))
  [ "$(mapped reserve mapped_bytes)" = $((100 << 20)) ] || fail "reserve: $(jq -c .mapped report.json)"
  near "reserve, resident" "$(mapped reserve resident_bytes)" $((1 << 20))
  [ "$(mapped grown mapped_bytes)" = $((5 << 20)) ] || fail "grown: $(jq -c .mapped report.json)"
  [ "$(mapped grow_break mapped_bytes)" = $((2 << 20)) ] || fail "sbrk: $(jq -c .mapped report.json)"
  [ "$(mapped sizes mapped_bytes)" = 0 ] || fail "what was unmapped is there: $(jq -c .mapped report.json)"
  near "all that is resident" "$(all_parts)" \
    "$(jq .resident.rss_bytes report.json)"
  other_parts | jq -e '. > -200000 and . < 2000000' >/dev/null || fail "$(jq -c .resident report.json)"
  "$winnow" report --all trace >report || fail "no report"
  grep -Eq '^  mapped by the program +[0-9.]+ MB' report || fail "no line: $(cat report)"
  grep -Eq 'resident +mapped +mappings' report || fail "no table: $(cat report)"
  grep -Eq ' arena < (sizes < )?main' report || fail "no callers: $(cat report)"
}

# Each block of 24 bytes takes 32, each of 25 takes 48.
headers_of_small_blocks_are_not_taken_for_free_memory() {
  need jq
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  record --rate 1e-1 -- "$programs/maps" small >/dev/null || fail "maps failed"
  near "headers" "$(figure . >/dev/null; part headers)" $((200000 * 8 + 200000 * 23))
  "$winnow" report --all trace >report
  grep -Eq '^  block headers +[56]\.[0-9]+ MB' report || fail "$(head -c 1500 report)"
}

callers_of_mappings_are_named_where_they_part() {
  record -- "$programs/map_callers" >/dev/null || fail "map_callers failed"
  "$winnow" report --all trace | tr -s '\n ' ' ' >report
  grep -q 'map_for_others < one of: many_pages 60 %, some_pages 30 %, few_pages 10 %' report || fail "$(cat report)"
}

# Small mappings and those of malloc do not count, nor files as memory of the program's own.
files_are_told_apart_from_memory() {
  need jq
  same_as_bare 1 "$programs/maps" file
  record --rate 1 -- "$programs/maps" file >/dev/null || fail "maps failed"
  figure . >/dev/null
  [ "$(mapped file mapped_bytes)" = 65536 ] || fail "$(jq -c .mapped report.json)"
  [ "$(jq .resident.mapped_private_bytes report.json)" = 0 ] || fail "$(jq -c .resident report.json)"
  [ "$(jq '.mapped | length' report.json)" = 1 ] || fail "what is malloc's is told: $(jq -c .mapped report.json)"
}

# What is written of a private mapping of a file is the program's own.
parts_add_up_where_mappings_of_files_are_written() {
  need jq
  record -- "$programs/maps" copied >/dev/null || fail "maps failed"
  figure . >/dev/null
  near "of its own" "$(jq .resident.mapped_private_bytes report.json)" $((2 << 20))
  near "files" "$(jq .resident.mapped_file_bytes report.json)" $((5 << 20))
  other_parts | jq -e '. > -300000 and . < 1000000' >/dev/null || fail "$(jq -c .resident report.json)"
}

small_steps_of_the_data_segment_add_up() {
  need jq
  same_as_bare 1e-4 "$programs/maps" steps
  record -- "$programs/maps" steps >/dev/null || fail "maps failed"
  figure . >/dev/null
  near mapped "$(mapped step_break mapped_bytes)" 2950000
  near resident "$(mapped step_break resident_bytes)" 2950000
  [ "$(mapped step_break mappings)" -le 2 ] || fail "$(jq -c .mapped report.json)"
}

# Where the kernel cannot pass over what was never touched, such a measurement is not complete.
large_reservations_hide_nothing() {
  need jq
  record -- "$programs/maps" sparse >/dev/null
  [ $? = 77 ] && skip "there are not so many addresses"
  figure . >/dev/null
  [ "$(jq .resident.rss_bytes report.json)" -gt 13000000 ] || skip "the kernel cannot scan"
  near reservation "$(mapped sparse resident_bytes)" $((3 << 20))
  near arena "$(mapped arena resident_bytes)" $((10 << 20))
}

mappings_are_measured_after_a_change_of_user() {
  need jq
  [ "$(id -u)" = 0 ] || skip "only root changes its user"
  chmod 711 .
  record -- "$programs/maps" dropped >/dev/null || fail "maps failed"
  figure . >/dev/null
  near arena "$(mapped arena resident_bytes)" $((10 << 20))
}

handlers_with_small_stacks_may_map_and_execute() {
  local i
  same_as_bare 1 "$programs/maps" small_stack
  for i in {1..900}; do export "WINNOW_TEST_VARIABLE_$i=$i"; done
  same_as_bare 1 "$programs/maps" small_stack_exec
  grep -qx executed recorded.out || fail "$(cat recorded.out)"
}

# A program without malloc is not told to be recorded at a higher rate.
programs_that_only_map_are_told_so() {
  need perl
  need jq
  cat >only.c <<'PROGRAM'
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) static char *pool(size_t n) { return memset(mmap(0, n, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, n); }
int main(void) { return !pool(100 << 20)[5]; }
PROGRAM
  need gcc
  gcc -O1 -g only.c -o only || fail "gcc"
  record -- ./only || fail "only: $?"
  "$winnow" report --all trace >report || fail "no report"
  grep -Eq '^  mapped by the program +10[45] MB' report || fail "$(cat report)"
  ! grep -q 'with --rate' report || fail "a higher rate would not help: $(cat report)"
  grep -q ' pool < main' report || fail "$(cat report)"
}

the_largest_resident_size_is_the_kernels() {
  need jq
  record -- "$programs/maps" spike >/dev/null || fail "maps failed"
  [ "$(figure .totals.peak_rss_bytes)" -ge 7000000 ] || fail "$(jq -c .resident report.json)"
}

mappings_in_handlers_and_threads_do_no_harm() {
  same_as_bare 1e-3 "$programs/maps" handlers
  opens trace
  [ "$(jq .lost info.json)" = 0 ] || fail "mappings that were missed count as blocks"
  same_as_bare 1e-3 "$programs/maps" threads
  [ "$(cat recorded.out)" = done ] || fail "threads: $(cat recorded.out recorded.code)"
  opens trace
  need jq
  figure . >/dev/null
  [ "$(mapped map_and_unmap mapped_bytes)" = 0 ] || [ "$tiny" = 1 ] || fail "left over: $(jq -c .mapped report.json)"
}

children_of_a_bare_system_call_may_map() {
  same_as_bare 1e-3 "$programs/maps" bare_forks
  grep -qx '400 children ended' recorded.out || fail "$(cat recorded.out)"
}

followed_children_inherit_mappings() {
  need jq
  record --follow-children -- "$programs/maps" forks >out || fail "forks failed"
  [ "$(cat out)" = done ] || fail "$(cat out)"
  local child parent
  read -r parent child <<<"$(traces | sort -t. -k2n | xargs)"
  figure . "$parent" >/dev/null
  [ "$(mapped arena mapped_bytes)" = $((10 << 20)) ] || fail "parent: $(jq -c .mapped report.json)"
  figure . "$child" >/dev/null
  [ "$(mapped arena mapped_bytes)" = $((20 << 20)) ] || fail "child: $(jq -c .mapped report.json)"
}

# The arenas of an allocator that stands for malloc hold blocks that are counted already.
an_allocators_own_mappings_are_not_the_programs() {
  need jq
  local other
  other=$(ls /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libmimalloc.so.2 2>/dev/null | head -n 1)
  [ -n "$other" ] || skip "there is no other allocator"
  LD_PRELOAD=$other record --rate 1e-2 -- "$programs/random_blocks" >out 2>&1 || fail "random_blocks: $(cat out)"
  figure . >/dev/null
  [ "$(jq '[.mapped[].mapped_bytes] | add // 0' report.json)" = 0 ] || fail "$(jq -c .mapped report.json)"
}

stack_of() { jq -r --arg name "$1" "[.stacks[] | select(.name == \$name) | .$2] | add // 0" report.json; } # FUNCTION MEMBER

stacks_of_threads_are_told_with_their_callers() {
  need jq
  same_as_bare 1 "$programs/stacks" large
  record --rate 1 -- "$programs/stacks" large >/dev/null || fail "stacks failed"
  figure . >/dev/null
  [ "$(stack_of start_threads threads)" = 6 ] || fail "$(jq -c .stacks report.json)"
  near "stacks, resident" "$(stack_of start_threads resident_bytes)" $((6 << 20))
  near "the first thread's" "$(stack_of measure resident_bytes)" 3000000
  near "all stacks" "$(part stacks)" $(((6 << 20) + 3000000))
  near "all that is resident" "$(all_parts)" \
    "$(jq .resident.rss_bytes report.json)"
  [ "$(mapped start_threads mapped_bytes)" = 0 ] || fail "stacks count as mappings too: $(jq -c .mapped report.json)"
  "$winnow" report --all trace >report || fail "no report"
  grep -Eq '^  thread stacks +[0-9.]+ MB' report || fail "no line: $(cat report)"
  grep -Eq ' start_threads < (large < )?main' report && grep -q ' measure < deepen <' report || fail "no callers: $(cat report)"
  ! grep -q begin_thread report || fail "a frame of ours: $(cat report)"
}

a_first_thread_that_was_deep_between_measurements_is_told() {
  need jq
  same_as_bare 1 "$programs/stacks" between
  record --rate 1 -- "$programs/stacks" between >/dev/null || fail "stacks failed"
  figure . >/dev/null
  near "the stack" "$(part stacks)" 3000000
  [ "$(jq '.stacks | length' report.json)" = 1 ] || fail "$(jq -c .stacks report.json)"
  [ "$(jq '.mapped | length' report.json)" = 0 ] || fail "the table's own memory is told: $(jq -c .mapped report.json)"
  other_parts | jq -e '. < 2000000' >/dev/null || fail "$(jq -c .resident report.json)"
}

# Found without callers first, and then with them: it counts once.
a_first_thread_that_is_deep_again_has_callers() {
  need jq
  record --rate 1 -- "$programs/stacks" before >/dev/null || fail "stacks failed"
  figure . >/dev/null
  near "the first thread's" "$(stack_of measure resident_bytes)" 3000000
  near "all stacks" "$(part stacks)" 3000000
}

maps_and_has_no_stacks() { # FUNCTION, which maps that many MEBIBYTES
  need jq
  record -- "$programs/stacks" "$1" >/dev/null || fail "stacks failed"
  figure . >/dev/null
  near "mapped" "$(mapped "$1" resident_bytes)" $(($2 << 20))
  [ "$(part stacks)" -lt 300000 ] || fail "$(jq -c .stacks report.json)"
}

stacks_that_programs_bring_count_once() { maps_and_has_no_stacks brought 6; }
stacks_of_threads_that_ended_are_gone() { maps_and_has_no_stacks gone 40; }

# Threads of C11 do not come by pthread_create.
stacks_of_threads_that_do_not_allocate_are_told() {
  need jq
  same_as_bare 1e-2 "$programs/stacks" c11
  record -- "$programs/stacks" c11 >/dev/null || fail "stacks failed"
  figure . >/dev/null
  [ "$(stack_of start_c11 threads)" -ge 1 ] || fail "$(jq -c .stacks report.json)"
  [ "$(stack_of start_c11 resident_bytes)" -ge 2000000 ] || fail "$(jq -c .stacks report.json)"
}

memory_is_measured_after_the_first_thread_has_ended() {
  need jq
  record -- "$programs/stacks" leader_ends >/dev/null || fail "stacks failed"
  figure . >/dev/null
  near "mapped" "$(mapped go_on_alone resident_bytes)" $((30 << 20))
  [ "$(figure .totals.peak_rss_bytes)" -ge 30000000 ] || fail "$(jq -c .resident report.json)"
}

programs_with_many_threads_behave_as_without_winnow() {
  same_as_bare 1e-2 "$programs/stacks" small
  same_as_bare 1e-2 "$programs/stacks" busy
  [ "$(cat recorded.out)" = done ] || fail "busy: $(cat recorded.out recorded.code)"
  opens trace
  same_as_bare 1e-2 "$programs/stacks" cancelled
  opens trace
}

what_the_recorder_has_itself_is_told() {
  need jq
  local least=300000
  [ "$tiny" = 1 ] && least=50000 # whose moment of the parts may be one at which little had been sampled yet
  record --rate 1 -- "$programs/random_blocks" >/dev/null || fail "random_blocks failed"
  figure . >/dev/null
  # Where the kernel counted far more than was measured, as happens in the tiny build, there are no parts.
  [ "$(jq .resident.explained report.json)" = true ] || return 0
  [ "$(part winnow | cut -d. -f1)" -gt $least ] || fail "$(jq -c .resident report.json)"
  "$winnow" report --all trace | grep -Eq "^  Winnow's own +[0-9.]+ [kM]B" || fail "$("$winnow" report --all trace)"
}

little_larger() { # ARGUMENT...: frees_all has at most 6 MB more when it is recorded
  local bare recorded
  bare=$("$programs/frees_all" "$@")
  recorded=$(record --rate 1e-4 -- "$programs/frees_all" "$@") || fail "frees_all failed"
  [ $((recorded - bare)) -le 6000000 ] || fail "$recorded bytes resident, $bare bare"
}

programs_that_free_all_are_little_larger() { little_larger; }
pages_that_are_idle_go_back() { little_larger again; }

freed_blocks_that_the_recorder_keeps_are_its_own() {
  need jq
  record --rate 1e-4 -- "$programs/frees_all" again >/dev/null || fail "frees_all failed"
  "$winnow" report --json trace >report.json || fail "no report"
  [ "$(part rest | cut -d. -f1)" -lt 4000000 ] && other_parts | jq -e ". < $(part winnow) + 4e6" >/dev/null || fail "$(jq -c .resident report.json)"
}

# ---- what is resident, at any moment ----

parts_add_up() { # MOMENT: within a hundredth
  "$winnow" report --json --at "$1" trace >report.json || fail "no report"
  jq -e '.resident | .rss_bytes as $all | ([.parts[].bytes.estimate] | add) - $all | . * 100 < $all and . * -100 < $all' report.json >/dev/null ||
    fail "at $1: $(jq -c .resident report.json)"
}

# What malloc keeps is told by malloc; what is left is data, small mappings and the tops of other arenas.
the_end_is_explained() {
  need jq
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local how threads
  for how in alone threads; do
    threads=1
    [ $how = threads ] && threads=4
    same_as_bare 1e-2 "$programs/fragments" $how
    record --rate 1e-2 -- "$programs/fragments" $how || fail "fragments failed"
    parts_add_up peak
    parts_add_up end
    near "free at the end, $how" "$(part free)" $((threads * 20000 * 1008))
    near "held at the end, $how" "$(part blocks)" $((threads * (20000 * 64 + 160000)))
    near "headers at the end, $how" "$(part headers)" $((threads * 20000 * 16))
    [ "$(part rest | cut -d. -f1)" -lt $((500000 + threads * 300000)) ] || fail "$(jq -c .resident report.json)"
    [ "$(jq '.resident.unwritten_bytes // 0 | floor' report.json)" -le $((threads * 140000)) ] || fail "$(jq -c .resident report.json)"
  done
  "$winnow" report --all --at end trace | grep -Eq '^  kept free +(79|8[0-4])\.[0-9] MB' ||
    fail "$("$winnow" report --all --at end trace | head -20)"
}

# Its tables, and the slots of blocks, grow with each sampled block.
what_winnow_itself_takes_is_its_own_while_it_grows() {
  need jq
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local rate
  for rate in 1 1e-1; do
    record --rate $rate -- "$programs/fragments" || fail "fragments failed"
    parts_add_up peak
    jq -e '.resident | ([.parts[] | select(.name == "rest") | .bytes.estimate] | add) + (.unwritten_bytes // 0) < .rss_bytes * 0.03 + 7e5' report.json >/dev/null ||
      fail "at $rate: $(jq -c .resident report.json)"
  done
}

what_was_never_written_is_taken_off() {
  need jq
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  record --rate 1e-2 -- "$programs/fragments" unwritten || fail "fragments failed"
  parts_add_up end
  jq -e '.resident.unwritten_bytes | . > 30e6 and . < 35e6' report.json >/dev/null || fail "$(jq -c .resident report.json)"
}

# Their own functions are asked, and not the C library's malloc, which they stand for. mimalloc has none.
other_allocators_tell_what_they_keep_free() {
  need jq
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local name other
  for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    other=$(find_allocator $name) || continue
    LD_PRELOAD=$other record --rate 1e-2 -- "$programs/fragments" || fail "fragments failed over $name"
    parts_add_up peak
    parts_add_up end
    jq -e --argjson free "$(part free)" '$free + (.resident.unwritten_bytes // 0) | . > 18e6 and . < 30e6' report.json >/dev/null || fail "$name: $(jq -c .resident report.json)"
    [ "$(part blocks | cut -d. -f1)" -lt 3000000 ] || fail "$name: $(jq -c .resident report.json)"
  done
  other=$(find_allocator libmimalloc.so.2) || return 0
  LD_PRELOAD=$other record --rate 1e-2 -- "$programs/fragments" || fail "fragments failed over mimalloc"
  "$winnow" report --json --at end trace >report.json
  [ "$(jq .resident.asked_ns report.json) $(part free)" = "null 0" ] || fail "mimalloc: $(jq -c .resident report.json)"
}
