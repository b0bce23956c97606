# winnow diff of folders with the traces of many hosts; sourced by run.
# shellcheck shell=bash disable=SC2154

# The traces of made-up hosts with a known truth: tests/fleet/make_hosts.c.
make_hosts() { # FOLDER BUILD FIRST COUNT SEED CHANGE
  rm -rf "$1"
  mkdir "$1"
  "$build/tests/fleet/make_hosts" "$@" || fail "no hosts"
}

# Of each host: its number of blocks of 1000 bytes.
make_exact_hosts() { # FOLDER COUNT...
  local folder=$1 i=0 count
  mkdir "$folder"
  shift
  for count; do make "host_h$((++i))_1" "$folder/$i" "$count"; done
}

# The first number in each of some columns of a page's answer (src/page/answer.h), which has its length before it.
first_of() { # ANSWER COLUMN...
  perl -0777 -ne 'BEGIN { @columns = splice @ARGV, 1 } my $length = unpack "x4 V", $_; my $json = substr $_, 12, $length; my $from = 12 + int(($length + 7) / 8) * 8;
    for my $column (@columns) { $json =~ /"$column": \{"type": "f64","at": (\d+)/ or die $column; print unpack("d<", substr $_, $from + $1, 8), "\n" }' "$@"
}

folders_are_compared_by_means_of_a_host() {
  need jq
  make_exact_hosts few 100 102 104
  make_exact_hosts three 101 103 108
  make_exact_hosts five 100 102 104 106 108
  make_exact_hosts nine 100 101 102 103 104 105 106 107 108
  make_exact_hosts more 200 202 204 206 208 210
  # The means of 520 and 936 blocks, and of the squares of what hosts have.
  succeeds diff --json five nine
  jq -e '.hosts == {"before": 5, "after": 9, "before_running": 5, "after_running": 9, "few": false} and .verdict.kind == "no_change" and .verdict.title == "NO CHANGE BEYOND NOISE" and
    .sites.sure_count == 0 and ([.sites, .alive, .allocated] | all(.bytes.before.estimate == 104000 and .bytes.after.estimate == 104000 and
      (.blocks.after.estimate - 104 | fabs) < 1e-9)) and
    ((.sites.bytes.before | .high - .estimate) / (2.776 * 1000 * (10 / 5 | sqrt)) - 1 | fabs) < 0.01 and
    ((.sites.bytes.after | .estimate - .low) / (2.306 * 1000 * (7.5 / 9 | sqrt)) - 1 | fabs) < 0.01 and
    .facts.totals.peak_bytes == .sites.bytes and .facts.totals.live_at_end_bytes == .alive.bytes and (.facts | keys) == ["totals"]' out >/dev/null ||
    fail "$(jq -c '.hosts, .verdict, .sites.bytes, .facts' out)"
  succeeds diff five nine
  says 'Numbers are means of a host, over 5 before and 9 after; ranges count that hosts differ[.]'
  says 'Held at the peak +104 kB +104 kB .* within noise .* NO CHANGE BEYOND NOISE'
  succeeds diff --all five more
  says 'REGRESSION +Held at the peak [+]101 kB: '
  says 'HELD AT THE PEAK .* 104 kB .* 205 kB .* in all'
  # With what functions call: each function counts once.
  succeeds diff --json --sort total five more
  jq -e '.sites.rows | length == 4 and all(.sure) and .[0].bytes.after.estimate == 205000' out >/dev/null && jq -e '.sites.rows[0].bytes == .sites.bytes' out >/dev/null || fail "$(jq -c '[.sites.rows[] | [.name, .bytes.after.estimate]]' out)"
  # Sums, if they are asked for.
  succeeds diff --per run five nine
  says 'All numbers are sums, over 5 hosts before and 9 after, and no means of a host[.]'
  says 'REGRESSION +Held at the peak [+]416 kB'
  succeeds diff --json --per run five nine
  jq -e '.hosts == null and .sites.bytes.after.estimate == 936000' out >/dev/null || fail "$(jq -c '.hosts, .sites.bytes' out)"
  # Of few hosts nothing is known, but that sums of more hosts are larger; equally many are compared as runs are.
  succeeds diff few more
  says 'means of a host, over 3 before and 6 after; '
  says 'NOT KNOWN +hosts are too few to tell a change from hosts that differ'
  refused_limit=$(run diff --fail-if 'held > +10M' few more; cat err; echo "$code")
  [[ $refused_limit = *'hosts are too few'*$'\n'1 ]] || fail "$refused_limit"
  succeeds diff few three
  says 'Held at the peak +306 kB +312 kB +[+]6.00 kB .*NO CHANGE'
  ! grep -q 'host' out || fail "of equally many: $(cat out)"
  succeeds diff --per host few three
  says 'Held at the peak +102 kB +104 kB'
  run diff --fail-if 'held > +90K' five more
  [ "$code" = 1 ] && grep -q 'it changed by [+]101 kB' err || fail "a limit of means: $code: $(cat err)"
  succeeds diff --by host --fail-if 'held > +110K' five more
  # A row of one host has what that host has.
  succeeds diff --json --by host five more
  jq -e '.verdict.kind == "regression" and ([.sites.rows[] | select(.name == "h2").bytes | .before.estimate, .after.estimate] == [102000, 202000])' out >/dev/null || fail "$(jq -c '.verdict, [.sites.rows[] | [.name, .bytes.after.estimate]]' out)"
  succeeds diff --by host five more
  says 'means of a host, .* Rows by +host are sums[.]'
  # The query leaves some of the hosts.
  succeeds diff --where 'host = h1' five nine
  says 'Held at the peak +100 kB +100 kB'
  ! grep -q 'means' out || fail "of one host: $(cat out)"
  # Nothing of it without a function in any host.
  succeeds diff --json --where 'fn = none' five nine
  jq -e '.sites.rows == [] and .sites.bytes.after.estimate == 0' out >/dev/null || fail "$(jq -c .sites out)"
}

# Six of twelve hosts ran days later, as where traces are gathered one after another, or releases follow each other.
hosts_that_ran_at_another_time_are_in_no_mean() {
  need jq
  mkdir before after late early
  local i
  for i in {1..12}; do
    make "host_a${i}_1" before/"$i" 100 $((i > 6 ? 3 : 0))
    make "host_b${i}_1" after/"$i" 100
    make "host_c${i}_2" late/"$i" 100 $((i > 9 ? 3 : 0))
  done
  cp before/{1,2,3} early && cp before/{7,8,9} early
  succeeds diff before after
  says 'over 12 before and 12 after; .* What was +held is of the 6 and 12 that ran at that moment[.]'
  says 'Held at the peak +100 kB +100 kB .*NO CHANGE BEYOND NOISE'
  succeeds diff --json before after
  jq -e '.hosts == {"before": 12, "after": 12, "before_running": 6, "after_running": 12, "few": false} and .verdict.kind == "no_change" and
    ([.sites, .alive, .allocated] | all(.bytes.before.estimate == 100000 and .bytes.after.estimate == 100000 and .sure_count == 0)) and
    .sites.rows[0].bytes.before.estimate == .sites.rows[0].bytes.after.estimate' out >/dev/null || fail "$(jq -c '.hosts, .verdict, .sites.bytes' out)"
  # Too few ran at one moment.
  succeeds diff early after
  says 'of the 3 and 12 that ran at that moment[.]'
  says 'NOT KNOWN +hosts are too few'
  succeeds report --by release before late
  says ' 100 kB +12  2023-11-14  121212121212  [(]9 ran at that moment[)]'
  says ' 100 kB +12  2023-11-14  111111111111  [(]6 ran at that moment[)]'
  succeeds report --json --by release before late
  jq -e '.releases | map([.hosts, .running, .bytes_of_a_host.estimate]) | sort == [[12, 6, 100000], [12, 9, 100000]]' out >/dev/null || fail "$(jq -c .releases out)"
  succeeds report --by release --at 1h before/{7..12} late/{1..9}
  says 'not known +6  2023-11-17  111111111111  [(]0 ran at that moment[)]'
  succeeds report --by host before
  says 'whose median is 100 kB +6 hosts as is usual +6 more hosts did not run at that moment'
  succeeds report --json --by host before
  jq -e '.hosts == {"median_bytes": 100000, "count": 6, "absent": 6, "unusual": []}' out >/dev/null || fail "$(jq -c .hosts out)"
}

hosts_without_a_change_show_none() {
  need jq
  local seed sure=0 rows=0 verdicts=0
  for seed in {1..12}; do
    make_hosts before 1 0 12 "$seed" 1
    make_hosts after 2 100 16 "$seed" 1
    succeeds diff --json before after
    sure=$((sure + $(jq '.sites.sure_count' out))) rows=$((rows + $(jq '.sites.rows_count' out)))
    [ "$(jq -r .verdict.kind out)" = no_change ] || verdicts=$((verdicts + 1))
  done
  echo "$sure of $rows functions are called changed; $verdicts verdicts"
  [ $rows = 480 ] || fail "$rows rows"
  [ $sure -le 3 ] && [ $verdicts -le 1 ] || fail "$sure of $rows functions, $verdicts verdicts"
}

# Where hosts differ by more than the function has.
a_function_that_changed_in_all_hosts_is_found() {
  need jq; need curl
  make_hosts before 1 0 16 5 1
  make_hosts after 2 100 20 5 4
  succeeds diff before after
  says 'REGRESSION +Held at the peak by functions that changed [+][0-9]+ kB: f5 [+][0-9]+ kB '
  says '39 functions within noise'
  succeeds diff --json before after
  jq -e '.verdict | .by_functions and .fact == "peak_bytes" and .rows[0].name == "f5"' out >/dev/null || fail "$(jq -c .verdict out)"
  jq -e '.sites.sure == false and .sites.sure_count == 1 and .sites.rows[0].name == "f5" and (.sites.rows[0].bytes | .before.estimate as $one | .after.estimate / $one | . > 3 and . < 5)' out >/dev/null || fail "$(jq -c '.sites.rows[0]' out)"
  # The page says the same.
  view before after
  printf 'view=totals\n' >request
  status 200 --data-binary @request "${url}answer"
  grep -ao '"compared": .*' body | grep -q '"kind": "regression",.*"reason": "Numbers are means of a host, over 16 before and 20 after; .* ",.*"fact": "Held at the peak by functions that changed",.*"text": "f5"' ||
    fail "the page: $(grep -ao '"compared": .\{600\}' body)"
  printf 'view=compare\nagainst=before\n' >request
  status 200 --data-binary @request "${url}answer"
  grep -aq '"note": "Numbers are means of a host' body && grep -aq '"sure_count": 1,' body || fail "the rows of the page: $(head -c 600 body)"
  # Its flame graph has sums, in which hosts differ too: of all, its first box, they are 20 times the mean.
  printf 'view=flame\nagainst=before\n' >request
  status 200 --data-binary @request "${url}answer"
  first_of body change low high >said
  jq -e --slurpfile of out --argjson said "[$(paste -sd , said)]" -n '$of[0].sites.bytes.difference | [.estimate, .low, .high] | [., $said] | transpose |
    all((20 * .[0] - .[1] | fabs) < 0.1 * (.[1] | fabs)) and $said[1] < 0 and $said[2] > 0' >answer || fail "the flame graph: $(paste -sd ' ' said)"
  end_view
  succeeds html -o page.html before after
  grep -q 'by functions that changed' page.html || fail "the text in the page"
  make_hosts back 1 200 20 4 1
  succeeds diff after back
  says 'IMPROVED +Held at the peak by functions that changed -[0-9]+ kB: f5'
}
