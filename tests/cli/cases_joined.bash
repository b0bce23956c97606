# shellcheck shell=bash disable=SC2154 # sourced by run
# Traces of several processes: files, folders and patterns that make one report.

# A shell that starts three programs, one after another, and becomes a fourth.
record_family() { # OUTPUT
  "$winnow" record -f -r 1 -o "$1" -- bash -c 'for i in 1 2; do head -c 9 /dev/zero >/dev/null; done; ls / >/dev/null; exec env true' 2>said ||
    fail "not recorded: $(cat said)"
}

# A number of the JSON of a report.
number() { jq "$1" <"$2"; }

several_traces_make_one_report() {
  need_recording
  need jq
  mkdir family
  record_family family/t.trace
  succeeds report --all family/t.trace/*
  cp out by_names
  says ' and [0-9]+ other processes '
  says 'Held at the end .* when each process ended'
  says 'A block counts as held until it was freed or its process ended'
  says 'Held .*, by process: '
  says '(head|ls) [(][0-9]+[)] +< bash [(][0-9]+[)]'
  says 'Not freed when the processes ended|They freed everything'
  succeeds report --all family/t.trace
  cmp -s out by_names || fail "the recording's folder gives another report than its files"
  succeeds report --all 'family/t.t*'
  cmp -s out by_names || fail "a pattern gives another report than the files"
  succeeds report --all family
  cmp -s out by_names || fail "a folder gives another report than its files"
  succeeds report family
  says 'Held at the end .* when each process ended'
  ! grep -q 'Held at the end.* of the peak' out || fail "what is left over time is compared with one moment: $(cat out)"
  succeeds report --json family
  cp out joined.json
  [ "$(number '.trace.processes | length' joined.json)" = "$(ls family/t.trace | wc -l)" ] || fail "$(cat joined.json)"
  # With every block recorded the totals are exactly the sums of the single reports.
  local what each sum
  for what in allocated_bytes allocated_blocks live_at_end_bytes live_at_end_blocks; do
    sum=0
    for each in family/t.trace/*; do sum=$((sum + $("$winnow" report --json "$each" | jq ".totals.$what.estimate"))); done
    [ "$(number ".totals.$what.estimate" joined.json)" = $sum ] || fail "$what: not $sum"
  done
  mkdir lists
  for i in 1 2; do "$winnow" record -q -r 1 -o lists/$i.trace -- ls / >said 2>&1 || fail "not recorded: $(cat said)"; done
  succeeds report --all lists
  says 'All 2 processes exited with code 0[.]'
}

# A trace with places of a language is needed until the end, its file only until it is read.
more_traces_are_joined_than_files_may_be_open() {
  need perl
  local i kind
  mkdir language memtrace
  "$build/tests/cli/make_memtrace" file 60 1 || fail "no Memtrace file"
  for ((i = 0; i < 30; i++)); do
    make "named$i" "language/$i"
    perl -pe "BEGIN { binmode STDIN; binmode STDOUT; undef \$/; \$id = pack 'v', 5000 + $i } s/\xe1\x10/\$id/g" <file >"memtrace/$i"
  done
  for kind in language memtrace; do
    succeeds report --all $kind
    says 'and 29 other processes '
    mv out expected
    (ulimit -S -n 20 && "$winnow" report --all $kind >out 2>err) || fail "$kind: $(cat err)"
    cmp -s out expected || fail "$kind: another report with few open files: $(diff expected out | head -n 5)"
    (ulimit -S -n 20 && "$winnow" html -o page.html $kind >out 2>err) || fail "$kind: $(cat err)"
  done
}

# As of containers, in which programs have the number 1.
ended_processes_with_one_number_are_several() {
  make exact_1 one
  make exact_2 other
  succeeds report --all one other
  says 'and 1 other process '
  says 'All 2 processes exited with code 0[.]'
}

# The first trace decides nothing: it may be of Memtrace, and the other one of Winnow.
traces_of_memtrace_are_joined() {
  mkdir both
  "$build/tests/cli/make_memtrace" both/first 600 1 || fail "no Memtrace file"
  make exact_collected both/other
  succeeds report --all both
  says ' and 1 other process '
  says 'Of the 2 processes 1 exited with code 0, 1 with traces of Memtrace, which tell no end[.]'
  says 'The rates of the traces are 0[.]01 to 1 at first; each sample counts by its own[.]'
  ! grep -q 'The trace is of Memtrace' out || fail "$(cat out)"
}

processes_without_an_end_and_of_several_hosts_are_told() {
  need_recording
  mkdir both
  "$winnow" record -q -f -r 1 -o both/t -- bash -c "bash -c 'head -c 9 /dev/zero >/dev/null; kill -9 \$\$'; true" >said 2>&1
  succeeds report --all both
  says ' 1 left no record of their end: .*Without a record of its end, a process counts as ended at the last event of its trace[.]'
  ! grep -q 'several hosts' out || fail "$(cat out)"
  local namespace=(unshare -u)
  [ "$(id -u)" = 0 ] || namespace=(unshare -ru)
  "${namespace[@]}" hostname elsewhere 2>/dev/null || skip "no name of a host can be changed here, even privately"
  "${namespace[@]}" sh -c "hostname elsewhere; exec \"\$@\"" sh "$winnow" record -q -r 1 -o both/other -- ls / >said 2>&1 || fail "not recorded: $(cat said)"
  succeeds report --all both
  says 'The traces are of several hosts; what was held at one moment is a sum by their wall clocks, which may differ[.]'
}

processes_can_be_asked_for() {
  need_many_blocks
  need_recording
  need jq
  mkdir family
  record_family family/t
  succeeds report --by process --tree family
  says 'Processes by what they held, with those that they started'
  local all heads others
  all=$("$winnow" report --json family | jq .totals.allocated_bytes.estimate)
  heads=$("$winnow" report --json --where 'process = head' family | jq .totals.allocated_bytes.estimate)
  others=$("$winnow" report --json --where 'process != head' family | jq .totals.allocated_bytes.estimate)
  [ "$heads" -gt 0 ] && [ "$others" -gt 0 ] && [ $((heads + others)) = "$all" ] || fail "$heads + $others is not $all"
  succeeds report --json --by process --sort total family
  # What the first process allocated, together with those that it started, is everything.
  [ "$(jq '.sites | length' out)" -ge 1 ] && [ "$(jq '[.allocated[].total_bytes.estimate] | max' out)" = "$all" ] || fail "$(cat out)"
  [ "$("$winnow" export -f folded --by process --quantity allocated family | sed 's/.* //' | add_up)" = "$all" ] ||
    fail "the export has another sum"
  for format in memtrace memtrace2 ctf; do
    refused 2 'has the events of one process: give one trace' export -f $format -o x family
  done
  succeeds diff --all --by process family "$(ls -d family/t/* | head -n 1)"
  says 'head [(]'
}

record_names_the_command_that_shows_all() {
  need_recording
  record_family 't.trace'
  grep -q '^winnow: wrote t.trace, a folder of .*; in a browser: .*winnow view t.trace; now: .*winnow report t.trace$' said || fail "$(cat said)"
  succeeds report t.trace
  says 'bash and [0-9]+ other processes'
}

files_that_cannot_be_joined_are_left_out() {
  need_recording
  mkdir family empty
  record_family all
  cp "$(ls -d all/* | head -n 1)" family/t
  cp "$(ls -d all/* | tail -n 1)" family/u
  run report family/t nowhere
  [ "$code" = 1 ] && [ "$(cat err)" = "winnow: cannot open nowhere: No such file or directory; it is left out" ] || fail "code $code: $(cat err)"
  says 'Held at the peak'
  cp family/t family/copy
  echo text >family/notes
  run report family
  [ "$code" = 0 ] || fail "code $code: $(cat err)"
  grep -q '^winnow: family/t is the same recording as family/copy, which is counted once$' err || fail "$(cat err)"
  grep -q '^winnow: passed over 1 file that is no trace$' err || fail "$(cat err)"
  succeeds info family
  says 'family/t .*[(]a copy[)]'
  says " all $(($(ls family | wc -l) - 1)), 1 is a copy"
  head -c 3000 /dev/urandom >noise
  run export -f csv family/t noise
  [ "$code" = 1 ] && grep -q 'noise is not a Winnow trace.*; it is left out$' err || fail "code $code: $(cat err)"
  refused 1 '^winnow: empty: no file in it is a trace$' report empty
  refused 1 "nothing.[*]: no file of such a name is a trace" report 'nothing.*'
  run report nowhere noise
  [ "$code" = 1 ] && [ ! -s out ] && grep -q 'none of 2 files can be part of one report' err || fail "code $code: $(cat err)"
  make collected heap
  refused 2 'is a trace of malloc and heap one of a collected heap: give one kind at a time' report family/t heap
}

# Without capabilities root's own files can be unreadable, too.
unreadable_traces_of_a_folder_are_told() {
  need_recording
  local as=()
  if [ "$(id -u)" = 0 ]; then as=(setpriv --inh-caps=-all --bounding-set=-all); fi
  mkdir family
  record_family all
  cp all/* family
  make plain family/other
  chmod 0 family/other
  if "${as[@]}" test -r family/other; then skip "every file can be read here"; fi
  "${as[@]}" "$winnow" report --all family >out 2>err
  [ $? = 1 ] || fail "another exit code: $(cat err)"
  [ "$(cat err)" = 'winnow: cannot open family/other: Permission denied; it is left out' ] || fail "$(cat err)"
  says ' and [0-9]+ other processes '
}

# Its file has space before it has a header.
a_trace_that_was_cut_before_its_header_is_told() {
  mkdir family
  make plain family/one
  make exact family/other
  head -c 4096 /dev/zero >family/killed
  run report family
  [ "$code" = 1 ] || fail "code $code: $(cat err)"
  grep -q '^winnow: family/killed holds nothing but zeros, .*; record again; it is left out$' err || fail "$(cat err)"
  ! grep -q 'passed over' err || fail "it is taken for a foreign file: $(cat err)"
  refused 1 'killed holds nothing but zeros, as a Winnow trace does that was cut before its header' report family/killed
}

killed_processes_are_not_said_to_have_ended() {
  need_recording
  mkdir family
  "$winnow" record -q -f -r 1 -o family/t -- bash -c 'bash -c "kill -9 \$\$; true"; ls / >/dev/null' >said 2>&1 || fail "not recorded: $(cat said)"
  succeeds report --all family
  says 'Held at the end .* when each process ended'
  says '1 left no record of their end: killed'
}

folders_have_pages_and_are_compared() {
  need_many_blocks
  need_recording
  mkdir before after
  record_family before/t
  record_family after/t
  succeeds html before/
  grep -q '<meta name="winnow-file" content="before">' before.html || fail "the page has no name"
  [ -s before.html ] || fail "no page: $(ls)"
  succeeds html -o page.html before after
  succeeds html 'before/t*'
  [ -s t.html ] || fail "no page: $(ls)"
  refused 2 'after/t/.* is a trace; give the page another name' html -o "$(ls -d after/t/* | head -n 1)" after
  succeeds diff --all before after
  says 'before: bash and [0-9]+ other processes .*after: bash and [0-9]+ other processes'
  succeeds info before
  says ' all [0-9]+ *$'
}

the_server_follows_a_folder() {
  need curl
  need_recording
  mkdir family
  # shellcheck disable=SC2016 # the shell of the recording expands it
  "$winnow" record -f -r 1 -o family/t -- bash -c 'sleep 1; head -c 9 /dev/zero >/dev/null; sleep 1; ls / >/dev/null; sleep 1' 2>recorded &
  local program=$! tries
  for ((tries = 0; tries < 100; tries++)); do [ -s family/t ] && "$winnow" info family/t >/dev/null 2>&1 && break; sleep 0.05; done
  view family
  curl -s -N "${url}events" >events &
  local listener=$!
  wait $program
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: ended' events && break; sleep 0.1; done
  kill $listener
  grep -q 'data: ended' events || fail "the end is not told: $(tail -n 3 events)"
  echo view=head >request
  status 200 --data-binary @request "${url}answer"
  grep -aq '"name": "ls"' body && grep -aq '"name": "head"' body || fail "processes that came later are missing: $(head -c 1500 body)"
  end_view
}

# Seven hosts of one release, one of which holds more, and five of another.
make_fleet_of_traces() { # FOLDER
  local i
  mkdir "$1"
  for i in 1 2 3 4 5 6; do make "host_h0${i}_1" "$1/0$i" $((100 + i)); done
  make host_h07_1 "$1/07" 900
  for i in 1 2 3 4 5; do make "host_h1${i}_2" "$1/1$i" $((200 + i)); done
}

# Where argument 0 is a link to a file with a version in its name, as python3 is.
a_release_is_that_of_the_version_that_a_link_leads_to() {
  need_recording
  need_many_blocks
  need jq; need readelf
  local file id
  for file in prog3.11 prog-2 prog.4 prog5; do
    cp "$build/tests/cli/programs/allocates" $file && ln -sf $file prog
    id=$(readelf -n $file | sed -n 's/.*Build ID: //p' | cut -c 1-12)
    [ "$id" ] || skip "programs have no build-id"
    "$winnow" record -q --rate 1e-3 -o t -- ./prog loop || fail "no trace"
    succeeds report --json --by release t
    [ "$(jq -r '.sites[].name' out)" = "$id" ] || fail "$file: $(jq -c '[.sites[].name]' out)"
  done
  cp prog5 progress && ln -sf progress prog
  "$winnow" record -q --rate 1e-3 -o t -- ./prog loop || fail "no trace"
  succeeds report --json --by release t
  [ "$(jq -r '.sites[].name' out)" = '(build-id not known)' ] || fail "progress: $(jq -c '[.sites[].name]' out)"
}

hosts_and_releases_have_rows() {
  need jq
  local one=111111111111 two=121212121212 where i
  make_fleet_of_traces traces
  succeeds report --json --by host --top 100 traces
  [ "$(jq -c '[.sites[] | [.name, .self_bytes.estimate, .self_bytes.low]] | sort' out)" = "$(jq -nc '[[range(1; 7)] | .[] | ["h0\(.)", 1000 * (100 + .), 1000 * (100 + .)]] + [["h07", 900000, 900000]] + [[range(1; 6)] | .[] | ["h1\(.)", 1000 * (200 + .), 1000 * (200 + .)]]')" ] ||
    fail "$(jq -c '[.sites[] | [.name, .self_bytes.estimate]]' out)"
  succeeds report --json --by release traces
  [ "$(jq -c '[.sites[] | [.name, .self_bytes.estimate]]' out)" = "[[\"$one\",1521000],[\"$two\",1015000]]" ] || fail "$(jq -c '[.sites[] | [.name, .self_bytes.estimate]]' out)"
  for where in 'host = h07' "host ~ 07 and release = $one" "not (release = $two or host != h07)"; do
    succeeds report --json --where "$where" traces
    [ "$(jq .totals.peak_bytes.estimate out)" = 900000 ] || fail "$where: $(jq -c .totals.peak_bytes out)"
  done
  succeeds report --where "release = $one" --by host traces
  says 'HOSTS UNLIKE THE OTHERS, whose median is 104 kB'
  says '900 kB +865 %  h07  most of all libprog[+]0x10 [+]171 kB'
  says '6 hosts as is usual'
  succeeds report --json --where "release = $one" --by host traces
  [ "$(jq -c '.hosts | [.median_bytes, .count, (.unusual[] | [.host, .bytes.estimate, .mostly, .mostly_bytes])]' out)" = '[104000,7,["h07",900000,"libprog+0x10",171000]]' ] || fail "$(jq -c .hosts out)"
  succeeds report --where "release = $two" --by host --all traces
  says 'whose median is 203 kB'
  says '5 hosts as is usual'
  succeeds report --where 'host ~ ^h0[1-4]' --by host traces
  ! grep -q 'HOSTS UNLIKE' out || fail "of four hosts: $(cat out)"
  succeeds report --json --where 'host ~ ^h0[1-4]' --by host traces
  [ "$(jq -c .hosts out)" = '{"count":4,"absent":0,"unusual":[]}' ] || fail "$(jq -c .hosts out)"
  succeeds report --where 'host != h07' --by host --at 0s traces
  says '11 hosts, of which half or more have nothing: none is called unusual'
  succeeds report --by release traces
  says '217 kB +[?] +7  2023-11-14  111111111111'
  says '203 kB +1.0 % +5  2023-11-14  121212121212'
  succeeds report --json --by release traces
  [ "$(jq -c '.releases[] | [.release, .hosts, .first_ns, .bytes_of_a_host.estimate]' out | tr -d '\n')" = "[\"$one\",7,$(jq .trace.started_ns out),217285.714285714][\"$two\",5,$(jq .trace.started_ns out),203000]" ] || fail "$(jq -c .releases out)"
  # Its hosts are those that the query leaves, whether or not they hold such blocks.
  succeeds report --json --by release --where 'host = h07 or host = h11' traces
  [ "$(jq -c '[.releases[] | [.release, .hosts, .bytes_of_a_host.estimate]]' out)" = "[[\"$one\",1,900000],[\"$two\",1,201000]]" ] || fail "$(jq -c .releases out)"
  succeeds report --json --by release --where "not (host = h07 and release = $one) and fn = none" traces
  [ "$(jq -c '[.releases[] | [.release, .hosts, .bytes_of_a_host.estimate]] | sort' out)" = "[[\"$one\",6,0],[\"$two\",5,0]]" ] || fail "$(jq -c .releases out)"
  succeeds report --by release --where 'host = none' traces
  ! grep -q 'HELD BY A HOST' out || fail "of no host: $(cat out)"
  mkdir days
  make host_a_1 days/1 100
  make host_c_2 days/2 100 3
  make host_b_2 days/3 100 1
  succeeds report --by release days
  says ' 1  2023-11-14  111111111111'
  says ' 2  2023-11-15  121212121212'
  succeeds report --by host --tree traces
  says 'Hosts by what they held'
  mkdir releases
  for i in {1..12}; do make "host_h1_$i" releases/$i $((100 + i)); done
  succeeds report --by release releases
  sed -n '/^HELD BY A HOST/,/^$/p' out >table
  [ "$(grep -c ' 1  2' table)" = 10 ] && grep -qx ' *2 more releases' table || fail "$(cat table)"
  # As the page has them, also of one trace.
  printf 'view=table\nby=host\n\n' | "$build/tests/page/page_ask" traces/07 >answer
  grep -aq '"h07"' answer || fail "the page has no hosts: $(cat answer)"
  printf 'view=table\nby=release\n\n' | "$build/tests/page/page_ask" traces/07 >answer
  grep -aq "$one" answer || fail "the page has no releases: $(cat answer)"
  make plain traces/others
  succeeds report --json --by release traces
  [ "$(jq '.sites | length' out)" = 3 ] || fail "$(jq -c '[.sites[].name]' out)"
  jq -r '.sites[].name' out | grep -q '(build-id not known)' || fail "a program without a build-id: $(jq -c '[.sites[].name]' out)"
}
