# winnow fleet, with two servers of ClickHouse as shards (tests/fleet/servers.bash).

need_servers() {
  # shellcheck source=../fleet/servers.bash
  . "$source/tests/fleet/servers.bash"
  servers_there || skip "there is no ClickHouse"
  need jq
  trap 'servers_stop; cd /; rm -rf "$work"' EXIT
  servers_start "$work" 2 || fail "the servers do not start"
  local i
  for i in 0 1; do
    succeeds fleet init machines
    clickhouse-client --port "${tcp_ports[$i]}" --multiquery <out >answer 2>&1 || fail "the tables: $(head -c 400 answer)"
  done
}

# Inserts a file of rows.
insert() { # SHARD TABLE FILE
  clickhouse-client --port "${tcp_ports[$1]}" --query "INSERT INTO winnow.$2 FORMAT RowBinary" <"$3" >answer 2>&1 || fail "$2: $(head -c 400 answer)"
}

# Inserts the rows of a made-up fleet, in place of what is there.
insert_fleet() { # HOSTS SEED CHANGE
  local shard table
  "$build/tests/fleet/make_fleet" . "$1" 2 "$2" "$3" || fail "no fleet"
  for shard in 0 1; do
    for table in samples loads; do
      ask $shard "TRUNCATE TABLE winnow.$table" >answer
      [ ! -s answer ] || fail "$(cat answer)"
    done
    for table in sites samples loads; do insert $shard $table $shard.$table; done
  done
}

fleet() { succeeds fleet --from "http://127.0.0.1:${http_ports[0]}" "$@"; }

fleet_prints_its_tables() {
  succeeds fleet init
  grep -q '^CREATE DATABASE IF NOT EXISTS winnow;$' out || fail "$(cat out)"
  [ "$(grep -c '^CREATE TABLE IF NOT EXISTS winnow\.[a-z]* ($' out)" = 5 ] || fail "not five tables: $(cat out)"
  [ "$(grep -c "ENGINE = Merge(winnow, '^" out)" = 6 ] || fail "not all ask: $(cat out)"
  succeeds fleet --database other init machines-1
  [ "$(grep -c "ENGINE = Distributed('machines-1', other, " out)" = 6 ] || fail "not all ask: $(cat out)"
  ! grep -q winnow\\. out || fail "the other database: $(cat out)"
  succeeds fleet roll 2024-02-29
  grep -q "WHERE day = '2024-02-29'" out || fail "$(cat out)"
  refused 2 "it must be a day" fleet roll 2023-02-29
  refused 2 "it must be a day" fleet roll 2023-2-8
  refused 2 "cannot be the name of a cluster" fleet init "a'b"
  refused 2 "cannot be the name of a database" fleet init --database 'a b'
  refused 2 "which action" fleet
  refused 2 "there is no action best" fleet best
  refused 2 "usage: winnow fleet diff .*R1 R2" fleet diff 1
  refused 2 "since 3y: it must be as" fleet top --since 3y
  refused 2 "since 2026-02-30: it must be as" fleet top --since 2026-02-30
  refused 2 "since is not before" fleet top --since 2026-11-29 --until 2026-11-28T10:00
  refused 1 "127.0.0.1:1: " fleet top --from http://127.0.0.1:1
}

# What is held and was allocated by all processes is what `winnow report` says of their traces together.
fleet_says_what_the_joined_report_says() {
  need_servers
  need_recording
  need_many_blocks
  local shard table trace key
  mkdir traces
  for shard in 0 1 2; do
    "$winnow" record -q -r 1e-2 -o traces/$shard.trace -- perl -e 'my @all; push @all, "x" x ($_ % 700) for 1 .. 20000; exit 0' >answer 2>&1 ||
      fail "no trace: $(cat answer)"
    succeeds export -f clickhouse -o rows$shard traces/$shard.trace
    for table in frames stacks sites samples loads; do insert $((shard % 2)) $table rows$shard/$table.rowbinary; done
  done
  succeeds report --json --at end traces
  jq -r '.totals | .allocated_bytes.estimate, .live_at_end_bytes.estimate, .allocated_bytes.samples' out >said
  fleet top --allocated --json
  jq -r '.bytes.estimate' out >asked
  is_near "$(cat asked)" "$(sed -n 1p said)" "$(awk 'NR == 1 { print $1 * 1e-9 }' said)" allocated
  [ "$(jq '.bytes.samples' out)" = "$(sed -n 3p said)" ] || fail "samples: $(jq .bytes out), $(cat said)"
  is_near "$(jq '[.rows[].bytes.estimate, .rest.estimate] | add' out)" "$(sed -n 1p said)" "$(awk 'NR == 1 { print $1 * 1e-9 }' said)" rows
  is_near "$(ask 0 "SELECT sum(bytes) FROM winnow.samples_all WHERE kind = 'left'")" "$(sed -n 2p said)" "$(awk 'NR == 2 { print $1 * 1e-9 + 1e-9 }' said)" left
  [ "$(jq '.processes' out)" = 3 ] && [ "$(jq '.hosts' out)" = 1 ] || fail "$(jq '.processes, .hosts' out)"
  succeeds fleet roll "$(date -u +%F)" # a second time does not count twice
  for shard in 0 1 0 1; do clickhouse-client --port "${tcp_ports[$shard]}" --multiquery <out >answer 2>&1 || fail "$(cat answer)"; done
  is_near "$(ask 0 "SELECT sum(bytes) FROM winnow.sites_daily_all WHERE kind = 'born'")" "$(sed -n 1p said)" "$(awk 'NR == 1 { print $1 * 1e-9 }' said)" 'by day'
  fleet top
  says 'all services, held now, 3 processes on 1 host.* nothing: what has ended holds nothing'
}

# Its tables ask those of the server itself, and get the same answers.
fleet_asks_a_server_without_a_cluster() {
  need_servers
  local table question
  succeeds fleet init --database single
  clickhouse-client --port "${tcp_ports[0]}" --multiquery <out >answer 2>&1 || fail "the tables: $(head -c 400 answer)"
  insert_fleet 100 3 2
  for table in sites samples loads; do
    ask 0 "INSERT INTO single.$table SELECT * FROM winnow.${table}_all" >answer
    [ ! -s answer ] || fail "$(cat answer)"
  done
  for question in top releases hosts 'diff r1 r2'; do
    # shellcheck disable=SC2086
    fleet --json $question
    cp out with
    # shellcheck disable=SC2086
    fleet --database single --json $question
    jq -e --slurpfile with with '(.rows | length) == ($with[0].rows | length) and .hosts == 100 and
      ([.rows[] | .function, .host, .release] | sort) == ([$with[0].rows[] | .function, .host, .release] | sort)' out >/dev/null || fail "$question: $(head -c 600 out)"
  done
}

# Of a thousand hosts, whose rates and loads differ.
fleet_ranges_hold_the_truth() {
  need_servers
  local seed rows=0 held=0
  for seed in 1 2 3; do
    insert_fleet 1000 $seed 1
    fleet top --json --top 1000
    jq -r '.rows[] | [.function, .bytes.low, .bytes.high] | @tsv' out | sort >said
    sort truth | join -t $'\t' - said | awk -F '\t' '{ rows++; held += $3 <= $2 && $2 <= $4 } END { print rows, held + 0 }' >count
    rows=$((rows + $(cut -d ' ' -f 1 count))) held=$((held + $(cut -d ' ' -f 2 count)))
    fleet diff --json r1 r2
    jq -r '.sure' out >>changed
  done
  echo "$held of $rows ranges hold the truth; rows of three diffs without a change that are called sure: $(tr '\n' ' ' <changed)"
  [ $rows = 600 ] || fail "$rows rows"
  [ $held -ge 554 ] && [ $held -le 592 ] || fail "$held of $rows ranges hold the truth"
  [ "$(awk '{ sum += $1 } END { print sum }' changed)" -le 30 ] || fail "a diff without a change: $(cat changed)"
}

fleet_finds_what_changed() {
  need_servers
  local i
  insert_fleet 400 7 2
  fleet diff r1 r2
  says 'from r1 .200 hosts. to r2 .200 hosts.'
  sed -n 6p out | grep -Eq '^ +\+[0-9.]+ [kM]B .* f5  api$' || fail "not the first row: $(cat out)"
  grep -Eq '^  19[0-9] functions within noise' out || fail "noise: $(cat out)"
  fleet releases --site f5 --json
  jq -e '.rows | length == 2 and .[0].per_host.high < .[1].per_host.low and .[0].hosts == 200' out >/dev/null || fail "$(cat out)"
  fleet hosts
  sed -n 6p out | grep -Eq 'host000017' || fail "not the host: $(cat out)"
  fleet hosts --json
  jq -e '.unusual >= 1 and .unusual <= 5' out >/dev/null || fail "$(cat out)"
  jq -e '.rows[0] | .mostly | test("^f[0-9]+$")' out >/dev/null || fail "$(cat out)"
  jq -e '.rows[0] | .mostly_bytes > 0 and .mostly_bytes < .more.estimate' out >/dev/null || fail "$(cat out)"
  # What was allocated is of a second, what it has the most of, too.
  for i in 0 1; do
    ask $i "SELECT * FROM winnow.samples WHERE kind = 'held' FORMAT TabSeparated" | sed 's/\theld\t/\tborn\t/' >born
    clickhouse-client --port "${tcp_ports[$i]}" --query 'INSERT INTO winnow.samples FORMAT TabSeparated' <born >answer 2>&1 || fail "$(head -c 400 answer)"
  done
  fleet hosts --allocated --json
  jq -e '.rows[0] | .mostly_bytes > 0 and .mostly_bytes < .more.estimate' out >/dev/null || fail "$(cat out)"
  run fleet --from "http://127.0.0.1:${http_ports[0]}" diff r1 r9
  [ $code = 1 ] && grep -q 'there is no release r9' err || fail "$code: $(cat err)"
  run fleet --from "http://127.0.0.1:${http_ports[0]}" top --service nobody
  [ $code = 1 ] && grep -q 'nothing was shipped of nobody' err || fail "$code: $(cat err)"
  server_stop 1 KILL
  run fleet --from "http://127.0.0.1:${http_ports[0]}" top
  [ $code = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "a shard is down: $code: $(cat err out)"
  grep -q "a shard does not answer: .*127\.0\.0\.1:${tcp_ports[1]}" err || fail "which shard is down: $(cat err)"
}

# The same hosts, by what they allocated: in the database it is that of a second.
fleet_and_folders_find_the_same() {
  need_servers
  local table seconds=10
  make_hosts before 1 0 16 5 1
  make_hosts after 2 100 20 5 4
  mkdir rows
  for trace in before/* after/*; do
    succeeds export -f clickhouse -o "rows/${trace/\//-}" "$trace"
  done
  for table in frames stacks sites samples loads; do
    cat rows/*/$table.rowbinary >all.$table
    insert 0 $table all.$table
  done
  fleet diff --json --allocated --since 2023-11-14 --until 2023-11-15 111111111111 222222222222
  jq --argjson seconds $seconds '[.sure, (.rows[] | [.function, (.change, .before, .after) | if type == "object" then [.estimate, .low, .high | . * $seconds] else . end])]' out >asked
  succeeds diff --json before after
  jq '.allocated | [.sure_count, (.rows[] | [.name, (.bytes | (.difference, .before, .after) | [.estimate, .low, .high])])]' out >said
  # The rates of hosts differ, and their ranges have one unit here, that of each function there.
  jq -ne --slurpfile asked asked --slurpfile said said '($asked[0] | length) == 41 and $asked[0][0] >= 1 and $asked[0][0] == $said[0][0] and
    ([$asked[0][1:][][0]] == [$said[0][1:][][0]]) and ([$asked[0][1:], $said[0][1:] | [.[][1:][]]] | transpose | all(
      (.[0][0] - .[1][0] | fabs) <= 1e-6 * (1 + (.[1][0] | fabs)) and ([.[0], .[1]] | transpose | all((.[0] - .[1] | fabs) <= 0.02 * (.[1] | fabs)))))' >/dev/null ||
    fail "the database and the folders: $(jq -c . asked said | cut -c 1-600)"
}
