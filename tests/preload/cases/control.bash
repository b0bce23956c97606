# What commands ask of a recorded process, and what becomes of its trace.

# Waits until a command line holds.
until_true() { # COMMAND...
  until "$@"; do kill -0 "$process" 2>/dev/null || fail "the program ended before: $*"; sleep 0.01; done
}

# Preloads the library by hand, with the trace t and its control file t.control.
by_hand() { # COMMAND...
  env LD_PRELOAD="$library" WINNOW_TRACE="$PWD/t" "$@"
}

has_control() { [ -e t.control ]; }

# What `winnow status` reports of this test's processes that can be asked; others may be recorded at the same time.
own_status() { "$winnow" status --json | jq -r --arg t "$PWD/t/" "[.[] | select((.trace | startswith(\$t)) and .rate != null)] | $1"; } # JQ

# Starts a program that allocates until its input ends: 100 bytes each, of which one block in ten stays.
begin_server() { # OPTION...
  [ -e input ] || mkfifo input
  "$winnow" record -q -o t "$@" -- "$programs/serves" <input &
  recorder=$!
  process=$recorder
  exec 9>input
  until_true eval 'pid=$(own_status ".[].pid") && [ -n "$pid" ]'
}

end_server() {
  exec 9>&-
  wait "$recorder" || fail "the recording ended with $?"
}

status_of() { "$winnow" status --json "$pid" | jq -r ".[0] | $1"; } # JQ

rates() { "$winnow" dump t | sed -n 's/.* rate rate=\([^ ]*\) cause=\([0-9]*\)/\1 \2/p' | tr '\n' ','; }

# ---- cases ----

# 64 threads, and a rate of 1 or 0 from half to half. Each half has its blocks, all of them or none.
every_block_is_in_its_interval() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  local rounds=${rounds:-100} threads=${threads:-64}
  by_hand WINNOW_RATE=0 "$programs/toggles" "$PWD/t.control" "$threads" "$rounds" 2>err || fail "it ended with $?: $(cat err)"
  [ -s err ] && fail "it said: $(cat err)"
  "$winnow" info t | grep -q '^missing *nothing' || fail "$("$winnow" info t | grep missing)"
  "$winnow" dump t | sort -n | awk -v threads="$threads" -v rounds="$rounds" '
    / rate rate=/ { on = /rate=1 /; if (on) interval++; next }
    / sample / && / size=72 / { if (!on) wrong++; count[interval]++; born[substr($0, match($0, / block=[0-9]*/), RLENGTH)] = 1 }
    / sample / && / size=104 / { wrong++ }
    / free / { freed += (substr($0, match($0, / block=[0-9]*/), RLENGTH) in born) }
    END {
      if (interval != rounds) print "there are " interval " intervals"
      if (wrong) print wrong " blocks are in a wrong interval"
      for (i = 1; i <= rounds; i++) if (count[i] != 3 * threads) print "interval " i " has " count[i] " blocks"
      if (freed != 3 * threads * rounds) print freed " are freed"
    }' >wrong
  [ -s wrong ] && fail "$(head -n 5 wrong)"
  [ -e t.control ] && fail "the control file is left"
  true
}

# The same, 10,000 changes.
every_block_is_in_its_interval_of_many() { rounds=5000 every_block_is_in_its_interval; }

# Threads that do not wait for each other lose no block.
a_storm_under_changes_loses_nothing() {
  by_hand WINNOW_RATE=1 "$programs/toggles" "$PWD/t.control" 4 -110 2>err || fail "it ended with $?: $(cat err)"
  [ -s err ] && fail "it said: $(cat err)"
  "$winnow" dump t >dump || fail "no dump"
  [ "$(grep -c ' rate rate=' dump)" -ge 100 ] || fail "there are few changes: $(grep -c ' rate rate=' dump)"
  [ "$tiny" = 1 ] && return
  "$winnow" info t | grep -q '^missing *nothing' || fail "$("$winnow" info t | grep missing)"
  ends_well "$winnow" report t
  awk '/ sample / { split($0, a, " block="); split(a[2], b, " "); live[b[1]] = 1 }
       / free / { split($0, a, " block="); split(a[2], b, " "); delete live[b[1]] }
       END { for (i in live) left++; exit left > 40 }' <(sort -n dump) || fail "blocks are not freed"
}

a_server_is_asleep_until_it_is_asked() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  begin_server --asleep --rate 1e-2
  [ "$(status_of .rate)" = 0 ] || fail "it samples at $(status_of .rate)"
  [ "$(status_of .usual_rate)" = 0.01 ] || fail "the usual rate is $(status_of .usual_rate)"
  "$winnow" start "$pid" >said || fail "start ended with $?"
  one_line_of said "^process $pid samples into .*, at 0.01 a word of 8 bytes: one sample every 800 B$"
  until_true eval '[ "$(status_of .samples)" -gt 10 ]'
  "$winnow" start -q "$pid" || fail "start ended with $?" # its rate is that already: no change
  "$winnow" rate t 1e-3 >said || fail "rate ended with $?"
  one_line_of said "^process $pid samples into .*, at 0.001 a word of 8 bytes: one sample every 8.00 kB$"
  "$winnow" stop -q "$pid" || fail "stop ended with $?"
  [ "$(status_of .rate)" = 0 ] || fail "it still samples"
  "$winnow" start --rate 0.5 -d 1h "$pid" >said || fail "start ended with $?"
  one_line_of said "^process $pid samples into .*, for 60.0 min, at 0.5 a word of 8 bytes: "
  "$winnow" status "$pid" >said
  grep -q '^ *pid  recorded  rate a word  ' said || fail "it does not say what a rate is: $(cat said)"
  [ "$(status_of '.seconds_left > 3500')" = true ] || fail "it does not say how long: $(status_of .)"
  "$winnow" start -d 0.000001s -q "$pid" || fail "start ended with $?"
  until_true eval '[ "$(status_of .rate)" = 0 ]'
  until_true eval '"$winnow" dump t/*.trace | grep -q " rate rate=0 cause=1$"' # the time is over before the process looks
  "$winnow" status >said || fail "no status"
  grep -q "^ *$pid .* asleep " said || fail "the table lacks it: $(cat said)"
  end_server
  [ "$(rates)" = "0.01 0,0.001 0,0 0,0.5 0,0.01 0,0 1," ] || fail "the trace has other rates: $(rates)"
  ls t.control t/* 2>/dev/null && fail "a file is left"
  "$winnow" info t | grep -q '^rate *0 at first, then 6 changes, from 0 to 0.5; 0 for ' || fail "$("$winnow" info t | grep rate)"
  "$winnow" report t >report || fail "no report"
  grep -q '^  NOT SAMPLED  *for ' report || fail "the report does not say it: $(cat report)"
  grep -q 'whether it grows is not known' <(tr -s '\n ' ' ' <report) || fail "it does not say that growth is not judged: $(cat report)"
  local next
  next=$(sed -n 's/^  Next: winnow \(diff --at [0-9.]*s,[0-9.]*s t\) .*/\1/p' report)
  [ "$next" ] && "$winnow" $next >said || fail "what it says to do next: $(tail -n 1 report)"
  grep -q '  trend  ' report && fail "rows have trends of what was not sampled: $(cat report)"
  [ "$(figure '[.alive[] | select(has("growth"))] | length' t)" = 0 ] || fail "rows have a growth"
  grep -q '^  held .*·' report || fail "the chart does not show it: $(cat report)"
  [ "$(figure '.trace.asleep_ns > 0 and .trace.asleep_ns < .trace.duration_ns' t)" = true ] || fail "the JSON lacks it"
  "$winnow" diff t t >report 2>/dev/null
  grep -q 'NOT KNOWN  *a part of a run is missing' report || fail "the comparison does not say it: $(cat report)"
  [ "$(figure '.trace.asleep_share > 0 and .trace.asleep_share < 1' t)" = true ] || fail "the JSON lacks the share"
  [ "$(figure '.trace.cost_share > 0 and .trace.cost_share <= 1' t)" = true ] || fail "the cost is $(figure .trace.cost_share t) of the processor time"
  [ "$(figure '.verdict.kind' t)" = none ] || fail "the verdict is $(figure '.verdict.kind' t)"
  [ "$(figure '.totals.allocated_bytes_per_second.estimate * (.trace.duration_ns - .trace.asleep_ns) / 1e9 / .totals.allocated_bytes.estimate | . > 0.999 and . < 1.001' t)" = true ] || fail "the rate per second has the wrong time"
  "$winnow" info t | grep -q '^missing *nothing' || fail "something is missing"
  true
}

# Any cost is more than this budget.
a_budget_lowers_the_rate() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  begin_server --budget 0.0001% --rate 0.5
  until_true eval '[ "$(status_of ".rate < 0.5 and .budget == 1e-6")" = true ]'
  "$winnow" status >said || fail "no status"
  grep -q "^ *$pid .* 0.0001 %  " said || fail "the table lacks the budget: $(cat said)"
  "$winnow" rate "$pid" 0.25 >said || fail "rate ended with $?"
  one_line_of said "^process $pid samples into .*, at 0.25 a word of 8 bytes: one sample every 32 B$"
  [ "$(status_of '.rate == 0.25 and .budget == null')" = true ] || fail "the budget is left: $(status_of .)"
  "$winnow" start "$pid" >said || fail "start ended with $?"
  one_line_of said "^process $pid samples into .*, at 0.5 a word of .*; the rate follows, so that recording takes up to 0.0001 % of the processor time$"
  until_true eval '[ "$(status_of ".rate < 0.5")" = true ]'
  "$winnow" rate --budget 50% "$pid" >said || fail "rate ended with $?"
  one_line_of said "^process $pid samples into .*, at 0.0001 a word of .*; the rate follows, so that recording takes up to 50 % of the processor time$"
  end_server
  rates | tr ',' '\n' >changes
  head -n 1 changes | grep -q ' 2$' || fail "the first change is another one: $(cat changes)"
  grep -q '^0.25 0$' changes && grep -q '^0.5 0$' changes && grep -q '^0.0001 0$' changes || fail "what was asked is not in the trace: $(cat changes)"
  "$winnow" info t | grep -q '^rate *0.5 at first, then [0-9]* changes by its budget or bound, from ' || fail "info does not say the budget: $("$winnow" info t)"
  "$winnow" info t | grep -q '^cost .* of processor time, ' || fail "info does not say the cost"
  [ "$("$winnow" info --json t | jq '.costs[-1].cost_ns > 0 and (.rates | length) > 3 and .rates[0].cause == "budget"')" = true ] || fail "the JSON lacks the course"
  [ "$(figure '.trace.cost_ns > 0 and .trace.cost_share > 0 and .trace.cost_share <= 1' t)" = true ] || fail "the report lacks the cost: $(figure '.trace' t | tr '\n' ' ' | grep -o '"cost_[^,]*' | tr '\n' ' ')"
}

# A trace of now, and one after each 20 ms, while the program goes on.
a_growing_trace_is_copied_whole() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  begin_server --rate 1e-2
  until_true eval '[ "$(status_of .samples)" -gt 100 ]'
  ends_well "$winnow" dump -o now.trace "$pid"
  grep -q '^wrote now.trace, a trace of now' last.out || fail "it said $(cat last.out)"
  "$winnow" dump --loop 20ms -o 'a-%n.trace' t >loop 9>&- &
  local loop=$!
  until_true eval '[ -e a-3.trace ]'
  end_server
  wait "$loop" || fail "the loop ended with $?"
  for copy in now.trace a-1.trace a-2.trace a-3.trace; do
    "$winnow" info "$copy" >info || fail "$copy is no trace"
    grep -q '^ended *yes: recording was stopped' info || fail "$copy: $(grep ended info)"
    grep -q '^missing *nothing' info || fail "$copy: $(grep missing info)"
    "$winnow" dump "$copy" | grep -v ' end ' | sort >copy
    "$winnow" dump t | grep -v ' end ' | sort >whole
    [ -z "$(comm -23 copy whole)" ] || fail "$copy has what the trace has not: $(comm -23 copy whole | head -n 2)"
    [ "$(wc -l <copy)" -gt 200 ] || fail "$copy has little"
  done
  [ "$(ls -d -- *.trace*)" = "$(printf '%s\n' a-[1-9]*.trace now.trace)" ] || fail "a file is left: $(ls)"
  [ "$(stat -c %a now.trace)" = 600 ] || fail "others may read it"
}

what_cannot_be_asked_is_told_in_a_line() {
  begin_server --rate 1e-3
  refused() { # PATTERN COMMAND...
    local pattern=$1
    shift
    run_as last "$@"
    [ "$(cat last.code)" != 0 ] || fail "$* ended well"
    one_line_of last.err "$pattern"
  }
  refused '^winnow: there is no process 4194305$' "$winnow" stop 4194305
  refused "^winnow: process $$ is not recorded: it runs without Winnow's library" "$winnow" stop $$
  refused '^winnow: cannot open no.trace: No such file' "$winnow" start no.trace
  refused '^winnow: .*: no process records into it now$' "$winnow" start "$0"
  refused '^winnow start: which process' "$winnow" start
  refused '^winnow rate: which process' "$winnow" rate "$pid"
  refused '^winnow rate: --rate 7: it must be' "$winnow" rate "$pid" 7
  refused '^winnow start: --duration soon: it must be' "$winnow" start -d soon "$pid"
  refused '^winnow dump: --loop needs --output' "$winnow" dump --loop 1s "$pid"
  refused '^winnow dump: with --loop the name' "$winnow" dump --loop 1s -o x.trace "$pid"
  refused '^winnow dump: --output x%q: behind' "$winnow" dump -o x%q "$pid"
  refused '^winnow: cannot write /proc/none' "$winnow" dump -o /proc/none/x "$pid"
  rm t/*.control
  refused "^winnow: process $pid is recorded, but its control file was removed or changed: " "$winnow" stop "$pid"
  end_server
}

# Each record of memory comes with a store of counts into the page.
has_more_memory_records() { [ "$("$winnow" dump copy 2>/dev/null | grep -c ' memory ')" -gt "$1" ]; } # COUNT

# Neither what the process reads nor what it writes ends it.
a_control_file_that_is_made_shorter_does_no_harm() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  grep -q '^Seccomp:[[:space:]]*0' /proc/self/status || skip "a filter of system calls holds here"
  begin_server --rate 1e-2
  until_true eval '[ "$(status_of .samples)" -gt 10 ]'
  local file trace
  file=$(echo t/*.control) trace=$(echo t/*.trace)
  : >"$file"
  until_true eval '"$winnow" dump -o copy "$trace" >/dev/null && has_more_memory_records 20'
  run_as last "$winnow" stop "$pid"
  one_line_of last.err "^winnow: process $pid is recorded, but its control file was removed or changed: "
  end_server
  "$winnow" info t | grep -q '^missing *nothing' || fail "something is missing"
  ls t.control t/* 2>/dev/null && fail "a file is left"
  true
}

# Of a process that changed its user, the control file is that of its user before.
a_control_file_of_another_user_is_explained() {
  [ "$(id -u)" = 0 ] || skip "this needs root"
  need setpriv
  local other=(setpriv --reuid 65534 --clear-groups)
  "${other[@]}" test -x "$winnow" || skip "the build is not readable for others"
  mkfifo input
  chmod 755 .
  install -d -o 65534 t
  "${other[@]}" test -w "$PWD/t" || skip "the folder of the test is not there for others"
  "${other[@]}" env LD_PRELOAD="$library" WINNOW_TRACE="$PWD/t/t" "$programs/serves" <input &
  process=$! pid=$!
  exec 9>input
  until_true [ -e t/t.control ]
  ends_well "${other[@]}" "$winnow" stop -q "$pid"
  chown 0 t/t.control
  run_as last "${other[@]}" "$winnow" stop "$pid"
  one_line_of last.err "^winnow: process $pid is recorded, but you may not open its control file, .*; ask as that user, or as root$"
  ends_well "$winnow" start -q "$pid"
  run_as last "${other[@]}" "$winnow" stop $$
  one_line_of last.err "^winnow: process $$ is another user's, or has changed its user since it began; "
  touch of_root
  run_as last "${other[@]}" "$winnow" stop "$PWD/of_root"
  one_line_of last.err "^winnow: $PWD/of_root is another user's, and so is a process that records into it; "
  exec 9>&-
  wait $process || fail "it ended with $?"
}

# Its name would be too long. A process that samples needs none; one that sleeps says that it cannot be woken.
a_process_without_a_control_file_says_so() {
  local name
  name=$(printf 'x%.0s' {1..250})
  mkfifo input
  for rate in 1e-3 0; do
    LD_PRELOAD=$library WINNOW_TRACE=$PWD/$name WINNOW_RATE=$rate "$programs/serves" <input 2>err &
    process=$! pid=$!
    exec 9>input
    until_true [ -s "$name" ]
    run_as last "$winnow" start "$pid"
    one_line_of last.err "^winnow: process $pid has Winnow's library, but no control file: "
    exec 9>&-
    wait $process || fail "it ended with $?"
    [ $rate != 0 ] || one_line_of err '^winnow: no control file can be created beside the trace, so no command can start sampling; going on unprofiled$'
    [ $rate = 0 ] || [ ! -s err ] || fail "it said $(cat err)"
    rm "$name"
  done
}

# Nothing can be asked of them, but they are recorded: their traces say so.
recordings_without_a_control_file_have_a_status() {
  local trace all='.[] | select(.pid == $pid)'
  has_status() { [ "$("$winnow" status --json | jq --argjson pid "$pid" "[$all] | length == 1 and (.[0] | .rate == null and .recorded_seconds > 0 and .no_control == \"$1\" and $2)")" = true ]; } # REASON JQ
  says_so() { # PID-OR-TRACE REASON
    "$winnow" status "$1" >said || fail "no status of $1"
    grep -Eq "^ *$pid +[0-9.]+ [a-z]+ +\\? " said && grep -Eqx " +$2: nothing can be asked of it, and its rate and cost are not known" said || fail "it said $(cat said)"
  }
  begin_server --rate 1e-2
  until_true eval '[ "$(status_of .samples)" -gt 10 ]'
  trace=$(echo t/*.trace)
  rm t/*.control
  has_status 'its control file was removed or changed' '.samples > 0 and .trace_bytes > 0 and .program == "serves" and .held_bytes.estimate > 0' ||
    fail "$("$winnow" status --json)"
  says_so "$pid" 'its control file was removed or changed'
  says_so "$trace" 'its control file was removed or changed'
  rm "$trace"
  has_status 'its trace and its control file were removed' '.program == "serves"' || fail "$("$winnow" status --json)"
  says_so "$pid" 'its trace and its control file were removed'
  exec 9>&-
  wait "$recorder" 2>/dev/null
  # A folder in which no file of that name can be made, and a child that is not recorded.
  trace=$(printf 'x%.0s' {1..250})
  LD_PRELOAD=$library WINNOW_TRACE=$PWD/$trace WINNOW_RATE=1 bash -c 'exec 3<&0; read -r _ <&3 & echo one; wait' <input >out &
  process=$! pid=$!
  exec 9>input
  until_true [ -s out ]
  has_status 'it could not create a control file beside its trace' '(.program | startswith("bash -c"))' || fail "$("$winnow" status --json)"
  says_so "$pid" 'it could not create a control file beside its trace'
  "$winnow" status --json | jq -r --arg t "$PWD/$trace" '.[] | select(.trace == $t) | .pid' >pids
  [ "$(cat pids)" = "$pid" ] || fail "these are recorded: $(cat pids)"
  exec 9>&-
  wait $process
}

# It sleeps in a system call, and so answers nothing.
a_process_that_allocates_nothing_is_asked_all_the_same() {
  LD_PRELOAD="$library" WINNOW_TRACE="$PWD/t" WINNOW_RATE=0 sleep 60 &
  process=$!
  until_true has_control
  "$winnow" start $process >said || fail "it ended with $?"
  one_line_of said "^process $process was asked, and looks when a thread has allocated 512 KiB or takes a sample: none did yet, or it ended$"
  kill -KILL $process
  wait $process 2>/dev/null
  run_as last "$winnow" stop $process
  one_line_of last.err "^winnow: there is no process $process$"
}

# What a copy must not take the place of; and a trace whose program is gone gets no end that it did not have.
copies_harm_nothing() {
  begin_server --rate 1e-3
  until_true eval '[ "$(status_of .samples)" -gt 10 ]'
  local trace inode
  trace=$(echo t/*.trace)
  inode=$(stat -c %i "$trace")
  mkfifo pipe
  ln -s elsewhere link
  for name in pipe link "$trace" -; do
    run_as last "$winnow" dump -o "$name" "$pid"
    [ "$(cat last.code)" != 0 ] || fail "it wrote $name"
  done
  [ -p pipe ] && [ -L link ] && [ ! -e elsewhere ] && [ ! -e ./- ] && [ "$(stat -c %i "$trace")" = "$inode" ] || fail "something was replaced: $(ls -l)"
  kill -KILL "$pid"
  exec 9>&-
  wait "$recorder"
  [ "$(status_of .pid 2>/dev/null)" = "" ] || fail "a killed program has a status"
  WINNOW_TRACE=$PWD/killed WINNOW_RATE=1e-3 LD_PRELOAD=$library "$programs/serves" <pipe &
  process=$!
  exec 9>pipe
  until_true [ -e killed.control ]
  kill -KILL "$process"
  wait "$process" 2>/dev/null
  exec 9>&-
  ends_well "$winnow" dump -o copy killed
  "$winnow" info copy | grep -q '^ended *no: killed' || fail "$("$winnow" info copy | grep ended)"
}

# An exec that fails leaves what was asked, and the means to ask.
a_failed_exec_forgets_nothing() {
  mkfifo input
  LD_PRELOAD=$library WINNOW_TRACE=$PWD/t WINNOW_RATE=0 "$programs/serves" /nowhere <input &
  process=$! pid=$!
  exec 9>input
  until_true has_control
  ends_well "$winnow" start --rate 1e-3 $pid
  ends_well "$winnow" start -d 1h --rate 1e-2 $pid
  until_true eval '[ "$(status_of .samples)" -gt 200 ]'
  [ "$(status_of '.rate == 0.01 and .seconds_left > 3000')" = true ] || fail "it forgot what was asked: $(status_of .)"
  [ "$(grep -c 't.control$' /proc/$pid/maps)" = 1 ] || fail "mappings are left: $(grep control /proc/$pid/maps)"
  exec 9>&-
  wait $process || fail "it ended with $?"
}

# Of several processes some sleep: a verdict is not given, and the report says it.
processes_that_sleep_are_told() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  mkfifo one two
  "$winnow" record -q -f --asleep -o t -- sh -c '"$0" <one & "$0" <two; wait' "$programs/serves" &
  recorder=$! process=$!
  exec 9>one 8>two
  until_true eval '[ "$(own_status "[.[] | select(.program == \"serves\")] | length")" = 2 ]'
  pid=$(own_status '[.[] | select(.program == "serves")][0].pid')
  ends_well "$winnow" start -q "$pid"
  until_true eval '[ "$(status_of .samples)" -gt 30 ]'
  run_as last "$winnow" dump -o all.trace t
  one_line_of last.err '^winnow dump: there are 3 traces to copy: the name of --output needs %p, '
  run_as last "$winnow" dump --loop 1s -o '%p-%n.trace' t
  one_line_of last.err '^winnow dump: --loop is for one process'
  mapfile -t pids < <(own_status '.[].pid')
  ends_well "$winnow" dump -o '%p-%n.trace' "${pids[@]}"
  for i in 0 1 2; do ends_well "$winnow" info "${pids[i]}-$((i + 1)).trace"; done
  ends_well "$winnow" dump -o 'of-%p.trace' t
  [ "$(ls of-*.trace | wc -l)" = 3 ] || fail "not all are copied: $(ls)"
  run_as last "$winnow" dump -o '%p.trace' "$pid" 4194305
  one_line_of last.err '^winnow: there is no process 4194305$'
  exec 9>&- 8>&-
  wait $recorder || fail "it ended with $?"
  "$winnow" report t >report || fail "no report"
  grep -q '^  NOT SAMPLED  *' report || fail "$(cat report)"
  [ "$(figure .verdict.kind t)" = none ] || fail "the verdict is $(figure .verdict.kind t)"
}

# Its own trace and its own control file; the parent's are not touched.
a_followed_child_is_asked_apart() {
  [ "$tiny" = 1 ] && skip "too few blocks are followed"
  mkdir folder
  by_hand WINNOW_TRACE="$PWD/folder/" WINNOW_FOLLOW=1 WINNOW_RATE=0 "$programs/forks" fork >/dev/null 2>&1
  ls folder/*.control 2>/dev/null && fail "a control file is left"
  true
}
