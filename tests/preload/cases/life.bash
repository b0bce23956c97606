# The life of a process: how it forks, executes, loads, is interrupted, and ends.

forked_child_is_left_alone() {
  for rate in 1 1e-2; do same_as_bare $rate "$programs/forks" plain; done
  record --rate 1 -- "$programs/forks" plain >/dev/null || fail "forks failed"
  opens trace
  [ "$(ls -d trace*)" = trace ] || fail "more than one trace: $(ls -d trace*)"
  counted "the parent's blocks" "$(of .totals.allocated_blocks of_the_parent)" 1000
  counted "of them left" "$(of .totals.live_at_end_blocks of_the_parent)" 0
  [ "$(of .totals.allocated_blocks of_the_child)" = 0 ] || fail "the child's blocks are in its parent's trace"
}

forked_child_lets_go_of_the_trace() {
  need perl
  # shellcheck disable=SC2016
  record --rate 1 -- perl -e 'unless (fork) { $x .= "more " x $_ for 1 .. 300; system("ls", "-l", "/proc/$$/fd"); system("cat", "/proc/$$/maps") } wait' >out ||
    fail "ended with $?"
  [ "$(grep -c '/perl' out)" -gt 0 ] || fail "the child told nothing: $(cat out)"
  grep "$PWD/trace" out && fail "the child holds the trace"
  grep -E '/proc/[0-9]+/(pagemap|statm)' out && fail "the child holds what measures its parent"
  return 0
}

# Nor may one that no handler sees: it has the trace's pages, shared with its parent.
child_of_a_bare_system_call_is_left_alone() {
  for rate in 1 1e-2; do same_as_bare $rate "$programs/forks" raw; done
  record --rate 1 -- "$programs/forks" raw >/dev/null || fail "forks failed"
  opens trace
  counted "the parent's blocks" "$(of .totals.allocated_blocks of_the_parent)" 1000
  counted "of them left" "$(of .totals.live_at_end_blocks of_the_parent)" 0
  [ "$(of .totals.allocated_blocks of_the_child)" = 0 ] || fail "the child's blocks are in its parent's trace"
}

# Where children are followed, it says so, once; a child of fork, of which many are made meanwhile, does not.
child_of_a_bare_system_call_says_that_it_is_not_recorded() {
  run_as raw "$winnow" record -q -f -o trace --rate 1 -- "$programs/forks" raw
  [ "$(cat raw.code) $(cat raw.out)" = "0 7" ] || fail "$(cat raw.code) $(cat raw.out)"
  one_line_of raw.err '^winnow: process [0-9]+ was made by clone or a system call, not by fork; going on unprofiled$'
  run_as forks "$winnow" record -q -f -o trace --rate 1 -- "$programs/forks" STORM 20
  [ ! -s forks.err ] || fail "$(cat forks.err)"
}

followed_child_has_a_trace_of_its_own() {
  record --rate 1 --follow-children -- "$programs/forks" plain >out || fail "forks failed"
  [ "$(cat out)" = 7 ] || fail "the child ended otherwise: $(cat out)"
  [ "$(traces | wc -l)" = 2 ] || fail "not one trace of the child: $(ls . trace)"
  opens trace
  counted "the parent's blocks" "$(of .totals.allocated_blocks of_the_parent)" 1000
  # 500 and one; what it inherited and reallocated is not its own.
  counted "the child's blocks" "$(of .totals.allocated_blocks of_the_child)" 501
  [ "$tiny" = 1 ] && return
  [ "$(trace_of of_the_parent)" != "$(trace_of of_the_child)" ] || fail "the child's blocks are in its parent's trace"
  opens "$(trace_of of_the_child)"
  [[ $(trace_of of_the_child) == trace/$(jq .pid info.json).* ]] || fail "$(trace_of of_the_child) is of process $(jq .pid info.json)"
}

blocks_that_cannot_be_followed_are_told() { # S11
  [ "$tiny" = 1 ] || skip "this build follows all blocks that there are"
  record --rate 1e-2 "$programs/forks" heir || fail "forks failed"
  opens trace
  [ "$(jq '.lost > 0 and .complete' info.json)" = true ] || fail "$(cat info.json)"
  "$winnow" report --all trace | tr -s '\n ' ' ' >report
  grep -q 'INCOMPLETE .*: the numbers are of a part of the run' report || fail "$(head -c 900 report)"
}

what_a_child_inherits_is_not_taken_for_free_memory() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  record --rate 1e-2 -f -- "$programs/forks" heir || fail "forks failed"
  local child parent
  read -r parent child <<<"$(traces | sort -t. -k2n | xargs)"
  figure . "$child" >/dev/null
  near "what it inherited" "$(part earlier)" 20000000
  "$winnow" report --all "$child" >report
  grep -Eq '^  from before the recording +(19|20|21)\.[0-9] MB' report || fail "$(head -c 1500 report)"
  near "what its parent had" "$(figure . "$parent" >/dev/null; part earlier)" 0
}

followed_children_of_an_earlier_run_are_not_counted() {
  local run
  for run in 1 2 3 4 5; do
    "$winnow" record -f --rate 1 -o 'a [trace]' -- sh -c 'ls >/dev/null; ls >/dev/null; exit' 2>said >/dev/null
    grep -q '^winnow: wrote a \[trace\], a folder of 3 traces of 3 processes (' said || fail "run $run: $(cat said)"
  done
}

threads_may_allocate_while_others_fork() {
  local rate forks
  while read -r rate forks; do
    record --rate $rate -- "$programs/forks" STORM $forks >out || fail "forks ended with $?"
    [ "$(cat out)" = "0 of $forks children failed" ] || fail "$(cat out)"
    opens trace
  done <<END
1 ${1:-60}
1e-2 ${1:-300}
END
}

threads_may_allocate_while_followed_children_fork() {
  record --rate 1e-2 --follow-children -- "$programs/forks" STORM 60 >out || fail "forks ended with $?"
  [ "$(cat out)" = "0 of 60 children failed" ] || fail "$(cat out)"
  [ "$(traces | wc -l)" = 61 ] || fail "$(traces | wc -l) traces of 60 children and their parent"
  opens trace
}

# The lock on the modules is another thread's, who is not in the child.
libraries_may_be_unloaded_while_followed_children_fork() {
  ends_well "$winnow" record -q -f -o trace --rate 1 -- "$programs/forks_while_unloading" "$programs" 100
  [ "$(cat last.out)" = "0 children failed" ] || fail "$(cat last.out)"
  [ "$(traces | wc -l)" = 101 ] || fail "$(traces | wc -l) traces of 100 children and their parent"
}

executed_programs_find_a_clean_environment() {
  for how in exec fork vfork spawn; do
    record --rate 1 -- "$programs/spawns" $how /usr/bin/env >out || fail "$how ended with $?"
    [ -s out ] || fail "$how: env printed nothing"
    grep -E '^(WINNOW_|LD_PRELOAD)' out && fail "$how leaves variables behind"
    opens trace
    [ "$(jq .samples info.json)" -gt 0 ] || fail "$how: nothing recorded"
  done
  record --rate 1 -- "$programs/spawns" system 'env; exit 9' >out
  [ $? = 9 ] || fail "system: another exit code"
  # Shells have a setenv and an unsetenv of their own, which do nothing before main.
  record --rate 1 -- /bin/bash -c '/usr/bin/env; :' >>out || fail "bash ended with $?"
  grep -E '^(WINNOW_|LD_PRELOAD)' out && fail "system leaves variables behind"
  return 0
}

constructors_may_set_the_environment() {
  seconds=10 same_as_bare 1 "$programs/early"
  [ "$(cat recorded.out)" = "set 0" ] || fail "$(cat recorded.out)"
  opens trace
  facts trace | grep -Eq '^ended *yes: exit 6' || fail "$(facts trace | grep ended)"
  [ "$(jq .samples info.json)" -gt 0 ] || [ "$tiny" = 1 ] || fail "nothing recorded"
}

other_preloaded_libraries_stay() {
  cp "$programs/libplugin_a.so" "$programs/libplugin_b.so" .
  for list in "$PWD/libplugin_a.so" "$PWD/libplugin_a.so:$PWD/libplugin_b.so" "$PWD/libplugin_a.so $PWD/libplugin_b.so"; do
    LD_PRELOAD=$list record --rate 1 -- "$programs/spawns" fork /usr/bin/env >out || fail "ended with $?"
    [ "$(grep '^LD_PRELOAD=' out)" = "LD_PRELOAD=$list" ] || fail "$(grep '^LD_PRELOAD=' out), not $list"
  done
}

executed_programs_are_followed() {
  record --rate 1 --follow-children -- "$programs/spawns" fork "$programs/ends" return
  [ $? = 4 ] || fail "another exit code"
  [ "$(traces | wc -l)" = 2 ] || fail "$(ls -l trace)"
  opens trace
  counted "the child's blocks" "$(of .totals.allocated_blocks born_in_main)" 1000
}

# Exit handlers and destructors run before our last record, and free what they free.
frees_at_exit_are_recorded() {
  record --rate 1 -- "$programs/ends" return
  counted "alive at the end" "$(of .totals.live_at_end_blocks born_in_main)" 100
  opens trace
  [ "$(jq .complete info.json)" = true ] || [ "$tiny" = 1 ] || fail "not complete"
}

signals_reach_the_program() {
  cat >waits.sh <<'END'
trap 'echo caught; exit 3' TERM
echo ready
for _ in {1..400}; do sleep 0.05; done
END
  "$winnow" record -q -o trace -- /bin/bash waits.sh >out &
  local pid=$!
  for _ in $(seq 100); do grep -q ready out && break; sleep 0.05; done
  kill -TERM $pid
  wait $pid
  [ $? = 3 ] || fail "TERM was not passed on"
  grep -q caught out || fail "the program did not see it"
}

unloaded_libraries_keep_their_names() {
  record --rate 1 -- "$programs/plugins" reload "$programs" >/dev/null || fail "plugins ended with $?"
  opens trace
  [ "$tiny" = 1 ] && return
  for letter in a b; do
    counted "blocks of $letter" "$(of .totals.allocated_blocks plugin_allocates_$letter)" 20
    counted "blocks of library $letter" \
      "$(figure .totals.allocated_blocks.estimate trace --where "module = libplugin_$letter.so and fn = plugin_allocates_$letter")" 20
    counted "bytes of $letter" "$(of .totals.allocated_bytes plugin_allocates_$letter)" $([ $letter = a ] && echo 2000 || echo 4000)
  done
}

deeply_bound_libraries_free_sampled_blocks() {
  for rate in 1 1e-2; do same_as_bare $rate "$programs/plugins" deepbind "$programs"; done
}

c_programs_may_load_cpp_libraries() {
  for rate in 1 1e-2; do same_as_bare $rate "$programs/plugins" cpp "$programs"; done
}

libraries_are_sought_where_the_caller_says() {
  cp "$programs/libplugin_a.so" "$programs/plugins_runpath" .
  same_as_bare 1 ./plugins_runpath runpath
  grep -q "found 1" recorded.out || fail "$(cat recorded.out)"
}

signal_handlers_may_allocate() { # T6
  [ "$tiny" = 1 ] && skip "lost blocks are the C library's, whose malloc no handler may call"
  local kind
  for kind in plain jump threads; do
    ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/signals" "${1:-1.5}" $kind
    [ "$(cat last.out)" = survived ] || fail "$kind: $(cat last.out)"
    opens trace
  done
}

signal_handlers_may_fork() {
  seconds=30 ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/forks_in_handler" 2000
  [ "$(cat last.out)" = survived ] || fail "$(cat last.out)"
  opens trace
}

# Also of a thread that waits for a lock, or has just let it go: its holder is not in the child.
signal_handlers_may_fork_while_threads_allocate() {
  local follow
  for follow in "" --follow-children; do
    seconds=50 ends_well "$winnow" record -q $follow -o trace --rate 1 -- "$programs/forks_in_handler" ${1:-300} 3
    [ "$(cat last.out)" = survived ] || fail "$follow: $(cat last.out)"
    opens trace
  done
}

many_short_threads_leave_nothing_behind() {
  for rate in 1 1e-3; do
    same_as_bare $rate "$programs/threads" many
    opens trace
  done
}

sixty_four_threads_exchange_blocks() { # T4
  for rate in 1e-2 1e-4; do
    same_as_bare $rate "$programs/threads" storm
    opens trace
  done
}

threads_may_be_named_late() {
  record --rate 1 -- "$programs/thread_names" || fail "ended with $?"
  opens trace
  local name
  for name in worker leader; do
    counted "blocks of $name" \
      "$(figure .totals.allocated_blocks.estimate trace --where "thread = $name and fn = allocate_for")" 10
  done
}

thread_local_destructors_may_allocate() {
  for rate in 1 1e-2; do
    same_as_bare $rate "$programs/thread_locals"
    same_as_bare $rate "$programs/threads" keys
  done
  # Also what is allocated after our own destructor ran.
  record --rate 1 -- "$programs/threads" keys >out || fail "ended with $?"
  opens trace
  counted "blocks of destructors" "$(figure .totals.allocated_blocks.estimate trace --where 'fn = destroy and size = 333')" \
    "$(grep -o '[0-9]*' out)"
  counted "left of them" "$(figure .totals.live_at_end_blocks.estimate trace --where 'fn = destroy and size = 333')" 0
}

exceptions_pass_through() { # and the blocks of all frames are freed on the way
  record --rate 1 -- "$programs/thread_locals" >/dev/null || fail "ended with $?"
  opens trace
  counted "left of what the throwing frames allocated" \
    "$(figure .totals.live_at_end_blocks.estimate trace --where 'fn ~ throw_through')" 0
}

no_thread_is_cancelled_inside_malloc() {
  for rate in 1 1e-2; do
    same_as_bare $rate "$programs/threads" cancel
    [ "$(cat recorded.out)" = "cancelled 1, inside an allocation 0" ] || fail "$(cat recorded.out)"
  done
}

# In /proc, in core dumps, and under the program's own limit.
reserved_addresses_do_not_count_as_data() {
  local rate
  for rate in 1 1e-3; do
    ends_well "$winnow" record -q -o trace --rate $rate -- "$programs/data_size"
    [ "$(cat last.out)" -lt 200000 ] || fail "$(cat last.out) kB of data at rate $rate"
  done
}

# gdb's gcore writes whole mappings, but for those that the flags exclude. The program finds all its blocks in others.
core_dumps_have_the_programs_memory_and_no_reserve() {
  local rate bare
  bare=$("$programs/dumps")
  case $? in 0) ;; 2) skip "the kernel does not show the flags" ;; *) fail "dumps ended with $?" ;; esac
  for rate in 1 1e-3; do
    ends_well "$winnow" record -q -o trace --rate $rate -- "$programs/dumps"
    [ "$(cat last.out)" -lt $((bare + 60000)) ] || fail "$(cat last.out) kB, and $bare without Winnow"
  done
  [ "$(cat last.err)" = "" ] || fail "$(cat last.err)"
  need gcore
  mkfifo waits
  record --rate 1 -- "$programs/dumps" 1 <waits >pid &
  exec 5>waits
  until [ "$(wc -l <pid)" = 2 ]; do kill -0 $! || fail "the program has ended"; done
  timeout 60 gcore -o core "$(tail -n 1 pid)" >gcore.out 2>&1
  exec 5>&-
  wait $! || fail "the program ended with $?"
  ls core.* >/dev/null 2>&1 || skip "$(cat gcore.out)"
  [ "$(stat -c %s core.*)" -lt $((1024 * (bare + 60000))) ] || fail "$(stat -c %s core.*) bytes"
  [ "$(grep -ac 'the text of a block' core.*)" -gt 0 ] || fail "no block is in the core"
  [ "$(grep -ao 'the text of a block' core.* | wc -l)" -ge 3000 ] || fail "blocks are missing in the core"
}

# The recording ends before calls of its own could kill the program, and goes on where they cannot.
a_program_that_forbids_itself_system_calls_is_not_killed() {
  local rate how said='^winnow: the program forbids itself system calls that recording makes \(seccomp\); going on unprofiled$'
  for how in strict again few most all; do
    run_as bare "$programs/confined" $how
    [ "$(cat bare.code)" = 8 ] && skip "no filters here"
    [ "$(cat bare.code) $(cat bare.out)" = "0 $how: done" ] || fail "$how, alone: $(cat bare.code) $(cat bare.out)"
    for rate in 1 1e-1 1e-2 1e-4; do
      run_as confined "$winnow" record -q -o trace --rate $rate -- "$programs/confined" $how
      [ "$(cat confined.code) $(cat confined.out)" = "0 $how: done" ] || fail "$how, rate $rate: $(cat confined.code) $(cat confined.err)"
      opens trace
      if [ $how = all ] || [ $how = most ]; then
        [ ! -s confined.err ] || fail "$how: $(cat confined.err)"
      else
        one_line_of confined.err "$said"
      fi
      [ $rate = 1 ] || continue
      [ "$(of .totals.allocated_blocks before)" -gt 0 ] || fail "$how: nothing was recorded before"
      [ $how = all ] || [ $how = most ] || [ "$(of .totals.allocated_blocks within)" = 0 ] || fail "$how: something was recorded afterwards"
      [ $how != all ] || [ "$(of .totals.allocated_blocks within)" -gt 0 ] || fail "$how: the recording ended"
    done
  done
}

# Nobody tells a program which filter it was born with. Malloc is asked all the same, as in every container.
a_program_is_not_killed_by_a_filter_that_it_inherits() {
  local rate
  run_as bare "$programs/confined" inherited
  [ "$(cat bare.code)" = 8 ] && skip "no filters here"
  [ "$(cat bare.code)" = 159 ] && skip "the C library calls sigaction when it starts"
  for rate in 1 1e-2; do
    rm -rf trace*
    same_as_bare $rate "$programs/confined" inherited
    [ "$(figure .resident.asked_ns)" != null ] || fail "rate $rate: malloc was not asked"
  done
}

mallinfo_counts_all_blocks() {
  local rate
  export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
  for rate in 1 1e-2 1e-4; do same_as_bare $rate "$programs/infos"; done
  grep -q ' 0$' bare.out && fail "the program counts otherwise: $(cat bare.out)"
  return 0
}

private_memory_is_what_was_touched() {
  record --rate 1 -- "$programs/reserves" || fail "ended with $?"
  local most
  most=$(figure '[.memory[].private_bytes] | max')
  [ "$most" -ge 67108864 ] && [ "$most" -le 200000000 ] || fail "$most bytes of 64 MB that were touched"
  [ "$(figure '[.memory[] | .private_bytes <= .rss_bytes] | all')" = true ] || fail "more is private than resident"
}

# Growth by realloc is measured as other allocation is: each step but the last is seen by the next one.
resident_memory_follows_a_buffer_that_realloc_grows() {
  record --rate 1e-3 -- "$programs/grows" || fail "ended with $?"
  local seen
  seen=$(figure '[.memory[].rss_bytes / 1e7 | floor] | unique | length')
  [ "$seen" -ge 6 ] || fail "30 steps of 10 MB, of which $seen are seen: $(figure '[.memory[].rss_bytes] | tostring')"
}

# The C library's tools and a few languages, as they are.
common_programs_are_not_disturbed() {
  mkdir folder
  seq 20000 >folder/numbers
  local rate command
  for rate in 1 1e-3; do
    while read -r command; do
      command -v "${command%% *}" >/dev/null || continue
      eval "same_as_bare $rate $command"
    done <<'END'
ls -la /usr
sort -R --random-source=folder/numbers folder/numbers
sort -n --parallel=4 -S 1M folder/numbers
tar -C folder -cf - --mtime=@0 numbers
find /usr/include/linux -name '*a*' -newer /bin/sh
awk '{ n[$1 % 997] = n[$1 % 997] $1 } END { for (i = 0; i < 997; i++) print i, length(n[i]) }' folder/numbers
bash -c 'a=(); for i in {1..3000}; do a+=("x$i"); done; echo ${#a[@]} $(echo ${a[@]} | wc -c)'
xz -9e -c folder/numbers
sed -n 's/\([0-9]\)1/<\1>/p' folder/numbers
diff folder/numbers /etc/passwd
/usr/bin/python3 -c 'import json, threading; t = [threading.Thread(target=lambda: json.dumps(list(range(9999)))) for i in range(8)]; [x.start() for x in t]; [x.join() for x in t]; print(sum(map(len, map(str, range(99999)))))'
cc -xc -O2 -S -o - /dev/null
git --version
END
  done
}

soak_forks() { threads_may_allocate_while_others_fork 2000; }

# In many short traces: one of 40 s has 34 million samples, for which `winnow info` takes 14 GB.
soak_signals() {
  local round
  for round in {1..27}; do signal_handlers_may_allocate; done
}
