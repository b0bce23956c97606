# The cases; sourced by run.
# shellcheck shell=bash disable=SC2154

options_are_understood() {
  make plain t
  local by
  for by in function line file module stack; do
    succeeds report --all --by $by t
    succeeds report -b $by --tree --json t
  done
  for at in peak end 1ms 0.5ms 0; do succeeds report --all --at $at t; done
  DEBUGINFOD_URLS=http://127.0.0.1:9 succeeds report --where 'thread = main and size > 100' -n 3 -t --no-symbols --search /tmp --no-debuginfod t
  says 'only blocks with thread = main and size > 100'
  succeeds report --all --where 'size > 1T' t
  fact Allocated '< [0-9.]+ kB'
  succeeds info t
  says 'sampled +1,000 blocks, 250 freed'
  says 'missing +nothing'
  succeeds info --json t
}

wrong_options_are_refused() {
  make plain t
  refused 2 'which trace' report
  refused 2 '--by x: it must be function' report --by x t
  refused 2 '--at never: it must be' report --at never t
  refused 2 '--at 1: it must be peak, end, or a time with its unit' report --at 1 t
  refused 2 '--search nowhere: No such file' report --search nowhere t
  refused 2 '--search t: it is not a folder' report --search t t
  refused 2 '--at -1s' report --at -1s t
  refused 2 'at 10s: that is after the end of the trace, 3.00 ms$' report --at 10s t
  refused 2 'live 10s: that is after the end of the trace' report --where 'live = 10s' t
  local top
  for top in 0 -1 x 1x '' 99999999999; do refused 2 '--top .*: it must be' report --top "$top" t; done
  refused 2 'column 5: expected a value' report --where 'fn =' t
  refused 2 'regular expression' report --where 'fn ~ "("' t
  refused 2 "option '--nonsense' is not known.*winnow help report" report --nonsense t
  refused 2 "option '--at' needs a value; see 'winnow help report'" report --at
  refused 2 "option '-n' needs a value" report --by line -n
  refused 2 "option '--t' is ambiguous" report --t t
  refused 2 "option '--nonsense' is not known" report --nonsense=3 t
  refused 2 "option '-x' is not known; see 'winnow help info'" info -x t
  refused 2 "option '-x' is not known" report --json -jx t
  refused 2 "option '--json' takes no value" info --json=3 t
  refused 2 'which trace' report ''
  refused 2 'which trace' info
  refused 2 "no command 'nonsense'" nonsense
  refused 2 "no command 'nonsense'" help nonsense
  refused 2 'program' record
  refused 2 '--rate and --every' record --rate 1e-4 --every 64K -- ls
  refused 2 "option '--s' is ambiguous; see 'winnow help record'" record --s ls
  refused 2 "option '-x' is not known" record -qx ls
  local value option
  for value in abc '' 0,5 1.5 -0.1 1e ' 1' nan 9e-10; do refused 2 "--rate ('')?$value: it must be a number from 1e-9 to 1" record --rate "$value" -- ls; done
  for value in abc '' 7 -8 1,5K 9G; do refused 2 "--every ('')?$value: it must be a size of 8 to 8000000000 bytes" record --every "$value" -- ls; done
  for value in abc '' -1 1.5 1025 1e2; do refused 2 "--stack-depth ('')?$value: it must be a whole number from 0 to 1024" record -d "$value" -- ls; done
  for value in abc '' -1 1.5 18446744073709551616; do refused 2 "--seed ('')?$value: it must be a whole number" record -s "$value" -- ls; done
  refused 2 "--output '': it must be a file's name" record -o '' -- ls
  refused 2 "--output x+\.\.\.: it must be a file's name" record -o "$(printf '%05000d' 0 | tr 0 x)" -- ls
  for option in follow-children quiet; do refused 2 "option '--$option' takes no value" record --$option=1 -- ls; done
}

wrong_files_are_refused() {
  local command
  : >empty
  head -c 100000 /bin/sh >foreign
  mkdir folder
  make plain t
  gzip <foreign >packed
  head -c 50 packed >cut
  echo '{"dhatFileVersion":2' >dhat
  printf 'heap profile: 1: 2 [3: 4] @ heapprofile\n' >gperftools
  for command in report info 'export -f csv' 'html -o page' 'diff t' 'diff --json t' view; do
    refused 1 'packed is compressed, but holds neither' $command packed
    refused 1 'cut is a damaged compressed file' $command cut
    refused 1 'dhat: a damaged file of DHAT' $command dhat
    refused 1 'gperftools is a heap profile as text' $command gperftools
    [ ! -e page ] || fail "a page of nothing"
  done
  for command in report info; do
    refused 1 'missing: No such file' $command missing
    refused 1 'folder' $command folder
    refused 1 'empty' $command empty
    refused 1 'foreign' $command foreign
    refused 1 '/dev/null' $command /dev/null
  done
  if [ "$(id -u)" != 0 ]; then
    chmod 0 t
    refused 1 'Permission denied' report t
  fi
}

memtrace_files_are_read() {
  "$build/tests/cli/make_memtrace" m 600 3 || fail "no Memtrace file"
  succeeds info m
  says 'heap +ocaml .*records .* of promotions *ended +unknown: such a trace does not tell'
  says 'context +a test'
  says 'written by +Memtrace 3'
  succeeds info --json m
  jq -e '.writer == "Memtrace 3" and .damaged_chunks == 0 and .unmatched == 0' out >/dev/null || fail "$(cat out)"
  succeeds report --all m
  says '^main.exe .* of Memtrace 3, which records no collections'
  says 'M\.g[0-9]+'
  succeeds report m
  says 'NOT DECIDED .* Next: record a longer run, or with (more|ten times the) samples: MEMTRACE_RATE=0[.]1'
  succeeds report --all --where 'thread = "domain 2"' m
  succeeds report --json m
  jq -e '.trace.writer == "Memtrace 3" and .trace.heap == "ocaml"' out >/dev/null || fail "$(head -c 600 out)"
  succeeds html -o page.html m
  [ -s page.html ] || fail "no page"
  "$winnow" report --all - <m >piped || fail "from standard input"
  "$winnow" report --all m | cmp -s - piped || fail "another report from standard input"
  "$build/tests/cli/make_memtrace" n 600 1
  printf 'x' | dd of=n bs=1 seek=30000 conv=notrunc 2>/dev/null
  truncate -s -20 n
  succeeds info n
  says 'missing +1 of [0-9]+ chunks damaged|missing +[0-9]+ of'
  succeeds report --all n
  fact 'Damaged pieces of the trace' '[0-9]+'
}

# Memtrace holds a lock of fcntl while it writes.
memtrace_files_that_are_being_written_say_so() {
  need perl
  "$build/tests/cli/make_memtrace" m 600 3 || fail "no Memtrace file"
  "$build/tests/cli/make_memtrace" n 600 1 || fail "no Memtrace file"
  cat >locked <<'END'
use Fcntl;
open(my $file, '+<', 'm') or die;
my $lock = pack('s s x4 q q l x4', F_WRLCK, 0, 0, 0, 0);
fcntl($file, F_SETLK, $lock) or die;
exit(system(@ARGV) >> 8);
END
  perl locked "$winnow" report --all m >out 2>err || fail "$(cat err)"
  says '^main[.]exe +[^,]*, still runs'
  perl locked "$winnow" info m >out 2>err || fail "$(cat err)"
  says 'ended +no: the trace is still being written'
  perl locked "$winnow" info m n >out 2>err || fail "$(cat err)"
  LC_ALL=C says ' m .*[(]still being written[)]'
  ! LC_ALL=C grep -aq ' n .*still' out || fail "$(cat out)"
  succeeds report --all m
  ! grep -q 'still runs' out || fail "$(cat out)"
}

memtrace_files_from_memtrace_have_its_dump() {
  local sample sum name tried=0
  while read -r sum name; do
    sample=${WINNOW_SAMPLE_DATA:-/nowhere}/memtrace/$name
    [ -e "$sample" ] || continue
    succeeds dump "$sample"
    md5sum <out | grep -q "$sum" || fail "$name: another dump"
    "$winnow" dump - <"$sample" | cmp -s - out || fail "$name: another dump of standard input"
    tried=$((tried + 1))
  done <<'END'
8f7a7e19237b55e2304dd5956175120a deep-stacks.v1.ctf
d431093d29816e67cb269a8d437f7101 small.v2.ctf
b39b2648c78926536672faa8b89841b8 ocamlopt.v3.ctf
END
  [ "$tried" -gt 0 ] || skip "no memtrace/*.ctf in WINNOW_SAMPLE_DATA"
}

events_are_dumped_one_a_line() {
  make plain t
  succeeds dump t
  grep -Eq '^[0-9]{13} [0-9]+ sample stack=[0-9]+ block=[0-9]+ size=[0-9]+ ' out || fail "$(head -5 out)"
  grep -Eq '^[0-9]{13} [0-9]+ end kind=' out || fail "$(tail -3 out)"
  grep -Evq '^[0-9]{13} [0-9]+ [a-z_]+ ' out && fail "$(grep -Ev '^[0-9]{13} [0-9]+ [a-z_]+ ' out | head -3)"
  "$build/tests/cli/make_memtrace" m 500
  succeeds dump m
  [ "$(wc -l <out)" = 500 ] || fail "$(wc -l <out) lines"
  truncate -s -20 m
  run dump m
  [ "$code" = 0 ] && grep -q '^winnow: m is incomplete: 1 piece damaged' err || fail "$code: $(cat err)"
  refused 2 'which trace' dump
  refused 1 'no process records into it now' dump -o copy t m
  refused 2 "option '--nothing' is not known" dump --nothing m
  refused 1 'No such file' dump nowhere
  head -c 1000 /bin/sh >foreign
  refused 1 'foreign is not a Winnow trace, nor one of Memtrace' dump foreign
  printf '\xc1\xfc\x1f\xc1 and so on' >big
  refused 1 'big is a Memtrace trace of a big-endian machine, which cannot be read' dump big
}

# A recording of several programs is a folder; what cannot be dumped does not keep the rest back.
each_trace_of_a_folder_is_dumped() {
  mkdir run
  make plain run/1.trace
  "$build/tests/cli/make_memtrace" run/2.ctf 500
  echo 'no trace' >run/notes
  succeeds dump run
  [ "$(grep -n '==>' out | tr '\n' ' ' | sed 's/[0-9]*://g')" = '==> run/1.trace <== ==> run/2.ctf <== ' ] ||
    fail "$(grep '==>' out)"
  cp out both
  { echo '==> run/1.trace <=='; "$winnow" dump run/1.trace; echo; echo '==> run/2.ctf <=='; "$winnow" dump run/2.ctf; } |
    cmp - both || fail "not what each alone gives"
  succeeds dump 'run/*'
  cmp out both || fail "of a pattern: another text"
  succeeds dump run/1.trace run/2.ctf
  cmp out both || fail "of two files: another text"
  run dump nowhere run/2.ctf
  [ "$code" = 1 ] && grep -q 'nowhere: No such file' err || fail "$code: $(cat err)"
  [ "$(wc -l <out)" = 503 ] || fail "$(wc -l <out) lines"
  rm run/*.*
  refused 1 'run: no file in it is a trace' dump run
}

# Every chunk begins with the magic, eight bytes; then the version, two bytes.
newer_versions_are_refused() {
  local command at
  make plain t
  for at in $(LC_ALL=C grep -aboP '\x89Winnow' t | cut -d: -f1); do
    printf '\007\000' | dd of=t bs=1 seek=$((at + 8)) conv=notrunc 2>/dev/null
  done
  LC_ALL=C sed -i 's/\xc5\x9e\xa7\xd3/xxxx/g' t # the checkpoints would tell that this is damage
  for command in report "report --json" info; do
    # shellcheck disable=SC2086
    refused 1 't was written by a newer version 7 of the format, this winnow reads up to 1; update winnow' $command t
  done
}

# Whoever reads only the first lines closes the pipe: that is no failure worth a word.
closed_pipes_are_quiet() {
  local form
  make many t 20000
  for form in "" --tree --by=stack --json; do
    # shellcheck disable=SC2086
    "$winnow" report --all --top 100000 $form t 2>err | head -n 1 >first
    [ -s first ] || fail "nothing was printed: $form"
    [ ! -s err ] || fail "a closed pipe $form: $(cat err)"
  done
}

damaged_traces_are_reported() {
  make many t 300000
  local size command
  size=$(stat -c %s t)
  [ "$size" -gt 300000 ] || fail "the trace is small: $size bytes"
  head -c $((size / 2)) t >cut
  succeeds report --all cut
  says '^pro"gram .*, no end recorded'
  cp t hurt
  # Among the first records of a chunk, whatever the build's size of chunks.
  printf 'XXXXXXXX' | dd of=hurt bs=1 seek=$((size / 2 / 65536 * 65536 + 1000)) conv=notrunc 2>/dev/null
  succeeds report --all hurt
  fact 'Damaged pieces of the trace' 1
  fact 'Left out of these' '[0-9.]+ k?B'
  fact 'Resident at most' '12.0 MB'
  ! grep -q 'RESIDENT MEMORY IS MADE OF' out || fail "parts of what is not known"
  says 'INCOMPLETE +1 piece of the trace damaged: the numbers are of a part of the run'
  succeeds report t
  says 'share +blocks +trend +allocated by'
  succeeds report hurt
  says 'INCOMPLETE +1 piece of the trace damaged: the numbers are of a part of the run'
  says 'share +blocks +allocated by' # what is missing may have grown
  succeeds info hurt
  says '1 of [0-9,]+ chunks damaged, [0-9.]+ k?B left out'
  head -c 150 t >stub
  for command in report info; do
    refused 1 '^winnow: stub is a Winnow trace of /bin/pro"gram --op[?]tion' $command stub
    refused 1 '[(]process 1, begun 2023-11-1.*, cut off after 150 bytes' $command stub
  done
  succeeds report --json hurt
  [ "$(jq .trace.damaged_chunks out)" = 1 ] && [ "$(jq .trace.complete out)" = false ] && [ "$(jq .trace.partial out)" = true ] || fail "JSON hides the damage"
}

tells_of_damage() { # FILE ARGUMENT...: it is no failure, and one line on standard error says what is missing
  local file=$1
  shift
  run "$@"
  [ "$code" = 0 ] && [ "$(wc -l <err)" = 1 ] || fail "winnow $*: code $code: $(cat err)"
  grep -Eq "^winnow: $file is incomplete: .*[0-9]+ pieces? damaged, left out: [0-9.]+ k?B$" err || fail "winnow $*: $(cat err)"
}

commands_whose_text_says_nothing_of_damage_tell_it_in_a_line() {
  make many t 20000
  local format
  cp t hurt
  printf 'XXXXXXXX' | dd of=hurt bs=1 seek=$(($(stat -c %s t) / 2)) conv=notrunc 2>/dev/null
  for format in $("$winnow" help export | sed -n '/^Formats:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p'); do
    tells_of_damage hurt export -f "$format" -o "out.$format" hurt
    succeeds export -f "$format" -o "whole.$format" t
  done
  [ -e out.csv ] && [ -e out.pprof ] || fail "no formats: $(ls)"
  tells_of_damage hurt export -f csv hurt
  [ "$(wc -l <out)" -gt 1 ] || fail "nothing was written: $(cat out)"
  make plain other
  tells_of_damage 'the recording' export -f csv hurt other
  tells_of_damage hurt html -o page.html hurt
  tells_of_damage hurt html -o page.html hurt other
  tells_of_damage hurt dump hurt
  view hurt
  grep -Eq '^winnow: hurt is incomplete: 1 piece damaged' complaints || fail "view: $(cat served complaints)"
  : >complaints
  end_view
  succeeds html -o page.html t
  succeeds dump t
}

# The members of docs/report-json.md, with their types.
json_has_all_members() {
  need jq
  make plain t
  succeeds report --json t
  local e='["estimate:number","high:number","low:number","samples:number"]'
  jq -r 'def members: to_entries | map(.key + ":" + (.value | type)) | sort | join(" ");
         members, (.trace | members), (.totals | members), (.tree | members), (.sites[0] | members), (.churn[0] // .lasting[0] | members),
         (.churn[0].life | members), (.held[0] | members), (.memory[0] | members)' out >members
  diff - members <<'END' || fail "members changed; docs/report-json.md describes them"
alive:array alive_rest:object allocated:array allocated_rest:object at_ns:number by:string churn:array churn_rest:object control_group:array held:array lasting:array lasting_rest:object mapped:array memory:array question:string resident:object schema:number sites:array sites_rest:object sort:string stacks:array totals:object trace:object tree:object verdict:object wrappers:array
asleep_ns:number asleep_share:number command:array complete:boolean context:string damaged_bytes:number damaged_chunks:number duration_ns:number growths:number heap:string host:string killed_for_memory:boolean lost:number lost_because:string partial:boolean pid:number probably_killed_for_memory:boolean rate:number rate_changes:number samples:number seed:number stacks_cut:number stacks_lost:number started_ns:number thread_name:string times_raised:number title:string unmatched:number word_bytes:number writer:string
alive_at_ns:number alive_blocks:object alive_bytes:object allocated_blocks:object allocated_bytes:object allocated_bytes_per_second:object brief_bytes:object brief_ns:number brief_share:object headers_included:boolean held_at_ns:number held_blocks:object held_bytes:object live_at_end_blocks:object live_at_end_bytes:object peak_at_ns:number peak_blocks:object peak_bytes:object peak_moments_ns:array peak_rss_bytes:number
blocks:object children:array name:string self_blocks:object self_bytes:object share:object total_bytes:object
blocks:object file:string first_column:number last_column:number line:number module:string name:string self_blocks:object self_bytes:object share:object total_bytes:object
blocks:object file:string first_column:number last_column:number life:object life_median_ns:number line:number module:string name:string self_blocks:object self_bytes:object share:object total_bytes:object
high_ns:number low_ns:number median_ns:number samples:number
blocks:object bytes:object time_ns:number
private_bytes:number rss_bytes:number time_ns:number
END
  [ "$(jq -c '[.. | objects | select(has("estimate")) | to_entries | map(.key + ":" + (.value | type)) | sort] | unique' out)" = "[$e]" ] ||
    fail "an estimate lacks a member"
  local member
  for member in $(jq -r '[paths(scalars) | map(strings) | .[-1]] | unique | .[]' out); do
    grep -q "\b$member\b" "$source/docs/report-json.md" || fail "docs/report-json.md does not know $member"
  done
  jq -e '[.. | objects | select(has("estimate")) | .low <= .estimate and .estimate <= .high] | all' out >/dev/null ||
    fail "an interval does not hold its estimate"
  succeeds report --json --by stack --where 'size > 0' t
  jq -e '.where == "size > 0" and (.sites[0].stack | length > 3) and .sites[0].stack[0] == .sites[0].name' out >/dev/null ||
    fail "stacks or query are missing"
}

json_agrees_with_the_text() {
  need jq
  make exact t
  succeeds report --json --top 1 t
  local allocated
  allocated=$(jq .totals.allocated_bytes.estimate out)
  jq -e '.totals.allocated_bytes | .low == .high and .low == .estimate' out >/dev/null || fail "rate 1 is not exact"
  [ "$allocated" = 515500 ] || fail "allocated $allocated"
  jq -e '.sites[0].total_bytes.estimate == .totals.peak_bytes.estimate and .tree.total_bytes == .sites[0].total_bytes' out >/dev/null ||
    fail "the root of all stacks does not hold everything"
  succeeds report --all t
  fact Allocated '516 kB'
  fact 'Calls that allocated' 1,000
  says '^pro"gram .* every block recorded'
}

# What a collected heap tells of itself, and what became of its blocks.
collected_heaps_are_told_of() {
  make exact_collected t
  succeeds report --all t
  fact 'Counted until' '1.00 s'
  fact 'Born in the minor heap' '8.00 MB'
  fact 'Born in the major heap' '800 kB'
  fact Promoted '4.00 MB'
  fact 'Minor collections' 1,000
  fact 'Cycles of the major collector' 5
  fact 'Largest major heap' '808 kB'
  fact 'Time of that' '1.00 s'
  fact 'Live, by the last cycle' '400 kB'
  fact Pauses 1,000
  fact 'In all' '504 ms'
  fact "Of the domains' time" '28 %'
  fact '99 of 100 took at most' '500 us'
  fact 'Longest, a minor collection' '5.00 ms'
  fact 'Time of that' '777 ms'
  fact Domains 2
  fact 'Domains at once' 2
  says 'Promoted: 320 kB in 400 blocks'
  fact 'Promoted, of the minor heap' '44 %'
  fact 'Dead at the next cycle, of these' '50 %'
  fact 'Allocated between collections' '8.00 kB'
  fact 'Less promoted, twice as large' '[0-9.–]+ %'
  says 'promoted +med. life +allocated by'
  says 'promoted dead next +allocated by'
  says 'major heap +█'
  fact 'Not found dead' '[0-9.]+ [kM]?B'
  succeeds report --all --where 'area = major' t
  says 'Allocated, .*: 8.00 MB in 100 blocks'
  says 'Promoted: nothing that was sampled'
  succeeds report --where 'promoted = yes and life_bytes < 10M' --by stack --tree t
  says 'only blocks with promoted = yes and life_bytes < 10M'
  says 'Allocated .* in 400 blocks'
  succeeds info t
  says 'records +400 of promotions, 1,006 of collections, 1,000 of pauses, 3 of domains'
  make collected t
  local columns
  export COLUMNS
  for columns in 80 100 140; do
    COLUMNS=$columns
    succeeds report --all t
    [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le "$columns" ] || fail "lines longer than $columns columns: $(cat out)"
    sed '1,/^Held/d' out | awk '/^ +[0-9.]+ [kM]?B/ { rows++; if ($3 !~ /^[0-9.]+–[0-9.]+$/ || ($4 !~ /^[0-9,]+$/ && $6 !~ /^[0-9,]+$/)) bad = $0 }
         END { if (bad) print bad; exit bad != "" || rows < 10 }' || fail "a row without its interval at $columns columns: $(cat out)"
  done
  fact 'Promoted, of the minor heap' '4[0-9] % +[0-9]+–[0-9]+ % +400'
  make plain t
  succeeds report --all t
  ! grep -Eq 'collected|romoted|major heap|found dead' out || fail "a malloc heap is told of as a collected one"
}

collected_heaps_have_their_members() {
  need jq
  make exact_collected t
  succeeds report --json t
  jq -e '.heap | .minor_words == 1000000 and .promoted_words == 500000 and .direct_words == 100000 and
         .minor_collections == 1000 and .major_cycles == 5 and .live_words == 50000 and .peak_heap_words == 101000 and
         .domains_begun == 2 and .domains_most == 2 and .pauses.count == 1000 and .pauses.total_ns == 504500000 and
         .pauses.below_99_ns == 500000 and .pauses.median_ns == 500000 and .pauses.longest_ns == 5000000 and .pauses.longest_kind == "minor" and
         (.collections | length) == 1000 and .collections[0].minor_words == 0 and .collections[-1].minor_words == 1000000 and
         .promoted_share.samples == 400 and .dead_next_share.estimate == 0.5' out >/dev/null || fail "$(jq '.heap | del(.collections)' out)"
  jq -e '.heap.what_if | .interval_words == 1000 and .samples > 300 and ([.kept_half, .kept_2, .kept_4, .kept_8] | map(.low <= .high) | all)' out >/dev/null || fail "$(jq '.heap.what_if' out)"
  jq -e '.promoted[0] | .total_bytes.samples == 400 and .promoted_share.samples == 400 and .life_words.samples == 900' out >/dev/null ||
    fail "$(jq '.promoted[0]' out)"
  jq -e '.allocated[0] | (.minor_share.estimate + .major_share.estimate - 1 | fabs) < 1e-9 and .life.samples == 1000' out >/dev/null ||
    fail "$(jq '.allocated[0]' out)"
  local member
  for member in $(jq -r '[paths(scalars) | map(strings) | .[-1]] | unique | .[]' out); do
    grep -q "\b$member\b" "$source/docs/report-json.md" || fail "docs/report-json.md does not know $member"
  done
  jq -e '[.. | objects | select(has("estimate")) | .low <= .estimate and .estimate <= .high] | all' out >/dev/null ||
    fail "an interval does not hold its estimate"
  make plain t
  succeeds report --json t
  jq -e 'has("heap") or has("promoted") | not' out >/dev/null || fail "a malloc heap has members of a collected one"
}

# Tables add up: what was sampled outside of any function known is a row, too.
samples_without_a_callstack_have_a_row() {
  need jq
  make exact_bare t
  local by
  for by in function line file module stack; do
    succeeds report --all --no-symbols --top 1000 --by $by --at end t
    says ' 51[.]2 kB +11 % +100  .*[(]no callstack[)]'
    succeeds report --no-symbols --json --top 1000 --by $by --at end t
    jq -e '[.sites[].self_bytes.samples] | add == 750' out >/dev/null || fail "by $by: $(jq -c '[.sites[].self_bytes.samples] | add' out)"
    jq -e '.sites[] | select(.name == "(no callstack)") | .module == "" and .self_bytes == .total_bytes and .total_bytes.samples == 100' out >/dev/null ||
      fail "by $by: $(jq -c '.sites[] | select(.name == "(no callstack)")' out)"
  done
  succeeds report --no-symbols --tree --at end t
  sed -n '/^Call tree/,/^$/p' out | grep -Eq '^ +51[.]2 kB +11 % +100  [(]no callstack[)]$' || fail "the tree: $(cat out)"
  succeeds report --no-symbols --json --top 1000 t
  jq -e '.lasting[] | select(.name == "(no callstack)") | .life.samples == .blocks.samples' out >/dev/null || fail "their lives"
  make plain t
  succeeds report --tree t
  ! grep -q 'no callstack' out || fail "there are callstacks: $(cat out)"
}

# One of each thing, and none.
few_are_counted_well() {
  make one t
  succeeds report --all t
  fact 'Blocks at the peak' '[0-9,]+ +[0-9,–]+ +1'
  fact 'Sampled blocks' 1
  fact 'Probability that a word is sampled' 0.001
  succeeds info t
  says 'sampled +1 block, 0 freed'
  says 'bytes a sampled block +ended'
  says 'missing +nothing written'
  make none t
  succeeds info t
  says 'sampled +0 blocks, 0 freed'
  says 'size +[0-9]+ B +ended'
  make zero_none t
  succeeds info t
  says 'rate +0: nothing was to be sampled'
  make exact t
  succeeds info t
  says 'rate +1: every block seed'
  make collected_none t
  succeeds report --all t
  fact 'Largest major heap' '[0-9.]+ [kM]?B'
  ! grep -Eq 'Minor collections|^PAUSES' out || fail "collections that were not: $(cat out)"
  make collected_one t
  succeeds report --all t
  fact 'Minor collections' 1
  ! grep -q 'Cycles of the major collector' out || fail "cycles that were not: $(cat out)"
  fact 'Longest, a minor collection' '500 us'
  fact 'Time of that' '1.00 ms'
  succeeds info t
  says 'records +0 of promotions, 2 of collections, 1 of pauses, 1 of domains ended +yes: exit 0'
}

# No control character but the end of a line, nothing that is not UTF-8, nothing that turns the direction.
is_harmless() { # FILE WHAT
  ! LC_ALL=C grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' "$1" || fail "control characters reach the terminal: $2: $(cat -v "$1")"
  iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "bytes that are not UTF-8 reach the terminal: $2: $(cat -v "$1")"
  ! LC_ALL=C grep -aqP '\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]' "$1" || fail "signs that a terminal obeys: $2: $(cat -v "$1")"
}

odd_names_do_no_harm() {
  need jq
  make plain t
  succeeds report --json t
  [ "$(jq -r '.trace.command[0]' out)" = '/bin/pro"gram' ] || fail "the quote in the command is lost"
  [ "$(jq -c '.trace.command[1:]' out)" = '["--op\u0002tion","�"]' ] || fail "$(jq -c .trace.command out)"
  jq -r '.sites[].module' out | grep -q 'od"d' || fail "no odd module"
  local form trace locale odd=$'wh\xffat\x1b[7m\xc2\x9b7m'
  make named named
  cp named "$odd"
  for locale in C.UTF-8 C; do
    for trace in t named; do
      for form in "" --tree --by=stack --by=module --by=line; do
        # shellcheck disable=SC2086
        LC_ALL=$locale succeeds report --all $form $trace
        is_harmless out "$trace $form"
      done
      LC_ALL=$locale succeeds info $trace
      is_harmless out "info $trace"
    done
    LC_ALL=$locale succeeds info t "$odd" named
    is_harmless out "info of several"
    for form in "report nowhere-$odd" "info nowhere-$odd" "$odd" "record $odd" "report --by $odd t" "report --where fn='$odd t" "record -o $odd/$odd true"; do
      # shellcheck disable=SC2086
      LC_ALL=$locale run $form
      [ "$code" != 0 ] && [ -s err ] || fail "no message: $form"
      is_harmless err "$form"
    done
  done
}

odd_names_of_what_is_recorded_do_no_harm() {
  need_recording
  local odd=$'wh\xffat\x1b[7m\xc2\x9b7m'
  cp /bin/true "$odd"
  run record "./$odd"
  [ "$code" = 0 ] || fail "$(cat err)"
  is_harmless err "record"
  run record -o "$odd.trace" -f -- sh -c "'./$odd'; exec './$odd'"
  is_harmless err "record -f"
  "$winnow" info winnow.*.trace "$odd".trace* >out 2>err
  is_harmless out "info"
  WINNOW_TRACE="$PWD/no$odd/t" LD_PRELOAD=$build/src/preload/libwinnow-malloc.so /bin/true 2>err
  grep -aq unprofiled err || fail "no message of the library: $(cat err)"
  is_harmless err "the library"
  chmod -x "$odd"
  run record "./$odd"
  is_harmless err "what cannot be run"
}

every_run_has_a_verdict() {
  local kind
  for kind in none killed_none zero_none exact_none collected_none; do
    make $kind t
    succeeds report --json t
    succeeds report --tree --by stack t
    succeeds report --all t
    ! grep -q '[.]  ' out || fail "two blanks: $(cat out)"
    cp out $kind
  done
  cp none out
  fact Allocated '< 20.1 kB'
  says 'TOO FEW SAMPLES +it allocated next to nothing, less than 20.1 kB in all +Next: record it again with --rate 0.01'
  cp zero_none out
  fact 'Probability that a word is sampled' 0
  says 'NOT SAMPLED +record it again with --rate 0.0001,'
  cp exact_none out
  fact Allocated '0 B'
  ! grep -q 'TOO FEW' out || fail "every block was recorded: $(cat out)"
  cp collected_none out
  says 'TOO FEW SAMPLES +it allocated next to nothing, less than [0-9.]+ kB in all +Next: run it again with WINNOW_RATE=0.01'
  ! grep -q -- --rate out || fail "a heap has no --rate: $(cat out)"
  make killed t
  succeeds report --all t
  says '^pro"gram .*, no end recorded'
  succeeds info t
  says 'ended +no: killed'
  says 'missing +perhaps its last moments'
  make plain t
  succeeds report --all t
  fact 'Held at the peak' '6.02 MB'
  fact 'Time of the peak' '3.00 ms'
  fact 'Held at the end' '6.02 MB'
  make level t
  succeeds report --all t
  says 'Held at the peak +807 kB +± 20 % +in [0-9,]+ blocks'
  says 'Held at the end +807 kB +± 20 % +100 % of the peak' # by all samples 836 kB; no moment held more than the peak
  make level_freed t
  succeeds report --all t
  says 'Held at the peak .* between 496 us and 984 us'
  fact 'Held at the end' '333 kB'
  fact 'Resident at most' '12.0 MB'
  says 'Held at moments between 496 us and 984 us \(the peak\): '
  succeeds report --json t
  jq -e '(.tree.total_bytes | del(.samples)) as $all | .totals.peak_bytes | (.estimate - $all.estimate | fabs) < 1e-6 * .estimate and (.low - $all.low | fabs) < 1e-6 * .low and
         .samples == 91' out >/dev/null && jq -e '.totals | .peak_at_ns == (.peak_moments_ns | sort | .[2])' out >/dev/null || fail "the table is not the peak: $(jq -c '.totals.peak_bytes, .tree.total_bytes' out)"
  make exact t
  succeeds report --all t
  fact 'Held at the peak' '[0-9.]+ k?B'
  succeeds report --all --where 'alive = yes' t
  says 'Held at the end .* 100 % of the peak'
  succeeds report --all --where 'size = 16' t
  fact 'Calls that allocated' 1
}

help_is_everywhere() {
  local command kind
  succeeds --version
  says '^winnow [0-9]+\.[0-9]+'
  succeeds --help
  says 'record.*report.*info'
  succeeds help
  run
  [ "$code" = 2 ] && [ ! -s out ] || fail "winnow alone: code $code"
  succeeds help
  local commands
  commands=$(sed -n 's/^  \([a-z0-9]*\) .*/\1/p' out)
  [ "$(echo $commands)" = "record report html view serve ship fleet export diff heap info dump compact status start stop rate unit help" ] || fail "commands: $commands"
  for command in $commands; do
    succeeds help $command
    says "^winnow $command: .*Usage: winnow $command"
    grep -q -- "^  $command  *$(sed -n "1s/^winnow $command: //p" out)\$" <("$winnow" help) || fail "$command: another summary"
    cp out first
    succeeds $command --help
    cmp -s first out || fail "'help $command' and '$command --help' differ"
    [ "$(awk 'length > 100' out)" = "" ] || fail "help $command has long lines"
    ! grep -E '^ .*--[a-z-]+ [A-Z|]+[a-z]' out || fail "help $command: a value and its text are one word"
  done
  succeeds help record
  for kind in static 32-bit set-uid musl sanitizer 'malloc of their own'; do says "cannot record.*$kind"; done
  succeeds report --json --help
  says 'say where the memory went'
  succeeds info --json --help
}

failing_output_is_noticed() {
  make plain t
  local arguments
  for arguments in "report t" "report --json t" "html -o - t" "html -o x.html t" "info t" "help report" "--help" "--version"; do
    # shellcheck disable=SC2086
    "$winnow" $arguments >/dev/full 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "/dev/full: $arguments: $(cat err)"
  done
  make many t 20000
  "$winnow" report --json --top 100000 t 2>err | head -c 10 >/dev/null
  [ "${PIPESTATUS[0]}" != 0 ] || fail "a closed pipe is not noticed"
  [ "$(wc -l <err)" -le 1 ] || fail "a closed pipe: $(cat err)"
}

complete_words() { # WORD...: what bash would offer for the last one
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _winnow
  printf '%s\n' "${COMPREPLY[@]}"
}

completion_completes() {
  winnow() { "$winnow" "$@"; }
  compopt() { :; }
  . "$source/completions/winnow.bash"
  [ "$(complete_words winnow rep)" = report ] || fail "report"
  [ "$(complete_words winnow report --by st)" = stack ] || fail "--by stack"
  [ -z "$(complete_words winnow html --by st)" ] || fail "html has no --by stack"
  [ "$(complete_words winnow export --by st)" = stack ] || fail "export --by stack"
  [ "$(complete_words winnow export --format p)" = pprof ] || fail "export --format pprof"
  run export --format nonsense t.trace # the message names all formats
  [ "$(complete_words winnow export -f '' | tr '\n' ' ')" = "$(sed 's/.*must be //; s/,//g; s/ or / /; s/$/ /' err | tr -d '\n')" ] || fail "export -f: $(complete_words winnow export -f '')"
  [ "$(complete_words winnow export -q held- )" = held-blocks ] || fail "export -q held-blocks"
  [ "$(complete_words winnow report --at e)" = end ] || fail "--at end"
  [ "$(complete_words winnow report --sho)" = --show-wrappers ] || fail "--show-wrappers"
  [ -z "$(complete_words winnow report --wrapper '')" ] || fail "the value of --wrapper"
  [ "$(complete_words winnow help inf)" = info ] || fail "help info"
  [ "$(complete_words winnow record --follow)" = --follow-children ] || fail "--follow-children"
  local command option words offered
  mkdir folder
  touch some.trace "a blank.trace"
  for command in report html view export diff heap info dump; do
    [ "$(complete_words winnow $command som)" = some.trace ] || fail "$command: files"
    [ "$(complete_words winnow $command --help a)" = "a blank.trace" ] || fail "$command: files with blanks"
  done
  [ "$(complete_words winnow record -o som)" = some.trace ] || fail "record -o: files"
  [ "$(complete_words winnow report --search f)" = folder ] || fail "--search: folders"
  [ "$(complete_words winnow report --search som)" = "" ] || fail "--search: only folders"
  complete_words winnow record bas | grep -qx bash || fail "record: programs"
  _command_offset() { COMPREPLY=("from $1"); } # bash-completion's
  [ "$(complete_words winnow record --rate 1 -- ls f)" = "from 5" ] || fail "record -- PROGRAM: what the program completes"
  [ "$(complete_words winnow record -q ls f)" = "from 3" ] || fail "record PROGRAM: what the program completes"
  words=$(complete_words winnow "" | grep -v '^-' | sort | tr '\n' ' ')
  succeeds help
  [ "$words" = "$(sed -n 's/^  \([a-z0-9]*\) .*/\1/p' out | sort | tr '\n' ' ')" ] || fail "commands: $words"
  [ "$words" = "$(complete_words winnow help "" | sort | tr '\n' ' ')" ] || fail "help: commands"
  for command in $words; do
    succeeds help $command
    offered=$'\n'$(complete_words winnow $command --)$'\n'
    for option in $(grep -Eo '^ +(-., )? *--[a-z-]+' out | grep -o -- '--[a-z-]*'); do
      [[ $offered = *$'\n'"$option"$'\n'* ]] || fail "$command $option is not completed"
    done
  done
}

the_manual_page_is_complete() {
  local page=$source/docs/winnow.1 command option text
  text=$(sed 's/\\-/-/g' "$page")
  for command in record report html view serve ship fleet export diff heap info dump compact status start stop rate unit; do
    succeeds help $command
    for option in $(grep -Eo '^ +(-., )? *--[a-z-]+' out | grep -o -- '--[a-z-]*'); do
      [[ $text = *"$option"* ]] || fail "docs/winnow.1 does not mention $command $option"
    done
  done
  # Of the settings of a recording, the variables that a user may set.
  local variables
  variables=$(tr '\n' ' ' <"$source/src/settings/settings.def" | grep -oE 'SETTING\([A-Z]+, [A-Z]+, "[^)]*"WINNOW_[A-Z]+"' | grep -o 'WINNOW_[A-Z]*')
  [ "$(wc -w <<<"$variables")" -ge 5 ] || fail "variables: $variables"
  for option in $variables; do grep -q "$option" "$page" || fail "docs/winnow.1 does not mention $option"; done
  grep -rn '"WINNOW_[A-Z]*"' "$source/src" --include='*.[ch]' | grep -v WINNOW_PARAMS && fail "a name beside the table of settings"
  need groff
  groff -man -Tutf8 -ww "$page" >page 2>warnings || fail "groff failed"
  [ ! -s warnings ] || fail "groff warns: $(cat warnings)"
}

fits() { # COLUMNS: all that was printed
  [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le "$1" ] || fail "lines longer than $1 columns: $2: $(cat out)"
}

append() { # FILE TITLE: what was printed, without another process
  local lines
  mapfile -t lines <out
  printf '%s\n' "$2" "${lines[@]}" >>"$1"
}

narrow_terminals_are_respected() {
  make named named
  make exact_named exact
  make plain plain
  make collected collected
  make killed killed
  local kind by sort
  export COLUMNS
  for COLUMNS in 80 160; do
    for kind in named exact plain collected killed; do
      for by in function line file module stack; do
        for sort in self total blocks samples; do
          succeeds report --by $by --sort $sort --tree --show-wrappers $kind
          append all "$by, $sort"
        done
      done
      mv all out
      fits "$COLUMNS" "$kind"
    done
    for kind in named exact; do
      for sort in self total; do
        succeeds report --all --at end --top 2 --sort $sort $kind
        fits "$COLUMNS" "$kind at the end, two rows by $sort"
      done
    done
  done
}

# Lines are broken, and nothing is left out.
info_fits_narrow_terminals() {
  local kind trace widest
  for kind in named exact plain collected killed none zero_none; do make $kind $kind; done
  make plain hurt
  printf 'garbage' | dd of=hurt bs=1 seek=20000 conv=notrunc status=none
  if [ -e "$build/src/preload/libwinnow-malloc.so" ]; then
    mkdir -p "a folder of a rather long name/and another one/inside"
    cp "$build/tests/preload/programs/becomes" "a folder of a rather long name/and another one/inside/program"
    "$winnow" record -q -r 1 -o "a folder of a rather long name/trace/" -- "$build/tests/preload/programs/becomes" execve \
      "a folder of a rather long name/and another one/inside/program" execve /bin/true "two  blanks" || fail "no trace"
  fi
  export COLUMNS
  for trace in named exact plain collected killed none zero_none hurt a*name/trace/*; do
    [ -e "$trace" ] || continue
    COLUMNS=160
    succeeds info "$trace"
    tr -d ' \n' <out >widest
    for COLUMNS in 40 41 60 80; do
      succeeds info "$trace"
      fits "$COLUMNS" "info $trace"
      tr -d ' \n' <out | cmp - widest || fail "something is missing at $COLUMNS columns: $(cat out)"
      ! grep -Evq '^([a-z]| {12}[^ ])' out || fail "a line begins at another column: $(cat out)"
    done
  done
  cp plain a-trace-whose-name-takes-more-columns-than-such-a-terminal-has
  head -c 100000 /bin/sh >foreign
  for COLUMNS in 40 41 60 80 100; do
    run info named exact plain killed none hurt foreign nowhere a*has
    fits "$COLUMNS" "several traces"
    for trace in named exact plain killed none hurt foreign nowhere; do
      LC_ALL=C grep -aEq "(^| )$trace( |:|\$)" out || fail "$trace is not there: $(cat out)"
    done
    tr -d ' \n' <out | LC_ALL=C grep -aq 'a-trace-whose-name-takes-more-columns-than-such-a-terminal-has' || fail "$(cat out)"
  done
}

# Every number has its interval and its samples, in every row and at every width.
numbers_have_intervals() {
  local columns
  make plain t
  export COLUMNS
  for columns in 80 100 140; do
    COLUMNS=$columns
    succeeds report --all t
    fact Allocated '7.92 MB +7.45–8.41 MB'
    fact 'Calls that allocated' '[0-9,]+ +[0-9,]+–[0-9,]+'
    fact 'Allocated a second' '[0-9.]+ GB/s +[0-9.]+–[0-9.]+ GB/s'
    fact 'Short-lived, of what was allocated' '[0-9.]+ % +[0-9.]+–[0-9.]+ %'
    sed '1,/^Held/d' out | awk '/^ +[0-9.]+ [kM]?B/ { rows++; if ($3 !~ /^[0-9.]+–[0-9.]+$/ || ($4 !~ /^[0-9,]+$/ && $6 !~ /^[0-9,]+$/)) bad = $0 }
         END { if (bad) print bad; exit bad != "" || rows < 10 }' || fail "a row without its interval at $columns columns: $(cat out)"
  done
  says 'held .*▁.*█.* [0-9.]+ MB [0-9.]+–[0-9.]+, 7[0-9]+ samples'
  says 'resident +·+█+·+  12.0 MB after 500 us'
  make exact t
  succeeds report --all t
  ! grep -Eq '[0-9]–[0-9]' out || fail "an exact trace has ranges"
}

chains_share_a_row() {
  make plain t 10
  succeeds report --all --no-symbols --sort total t
  says 'caller'
  succeeds report --all --by line --sort total t
  ! grep -q 'caller' out || fail "lines are merged"
}

reading_shows_its_progress() {
  need script
  make many t 500000
  # It shows on a terminal once a second has passed: so we make it pass while it reads, by many short pauses.
  local later
  cat >paused <<END
"$winnow" report --all --no-symbols t & pid=\$!
sleep \$1
for ((i = 0; i < 20; i++)); do kill -STOP \$pid || break; sleep 0.6; kill -CONT \$pid; sleep 0.02; done 2>/dev/null
wait \$pid
END
  for later in 0 0.2 0.4 0.8 1.2 1.6 2 2.4; do
    script -qec "bash paused $later" typescript >/dev/null </dev/null
    grep -aq 'Held at the peak' typescript || fail "no report on a terminal"
    grep -aq 'Reading [0-9]* %' typescript && return
  done
  fail "no progress"
}

# The example Lisp, whose traces name its functions.
frames_of_a_language_have_names() {
  local lisp=$build/examples/lisp/lisp kind
  [ -x "$lisp" ] || skip "there is no lisp"
  need python3
  cat >leak.lisp <<'PROGRAM'
(define kept '())
(define (keep n)
  (if (> n 0)
      (begin
        (set! kept (cons (make-vector 50 n) kept))
        (keep (- n 1)))))
(define (start)
  (keep 5000)
  (length kept))
(print (start))
PROGRAM
  for kind in lisp both native; do
    WINNOW_TRACE=$kind.trace WINNOW_RATE=0.01 WINNOW_SEED=1 "$lisp" --frames $kind leak.lisp >said || fail "lisp --frames $kind"
    [ "$(cat said)" = 5000 ] || fail "the program said $(cat said)"
  done
  succeeds report --all lisp.trace
  says 'keep  leak[.]lisp:5'
  says 'start'
  ! grep -Eq 'execute|vm_run|wn_' out || fail "native frames: $(cat out)"
  ! grep -q 'More names' out || fail "a hint for what is no file: $(cat out)"
  succeeds report --all --no-symbols lisp.trace
  says 'keep  leak[.]lisp:5'
  succeeds report --all --by line lisp.trace
  says 'keep \(leak.lisp:5\)  \[Lisp\]'
  succeeds report --all --by module lisp.trace
  says '\[Lisp\]'
  succeeds report --all --where 'fn = "keep" and file ~ "leak"' lisp.trace
  says 'only blocks with fn = '
  succeeds report --all --by stack -n 1 both.trace
  says '< keep leak[.]lisp:5 +< start:8 +< top level:10 +< execute vm[.]c:[0-9]+ +< .*main'
  ! grep -Eq 'wn_|capture' out || fail "frames of the heap: $(cat out)"
  succeeds report --by line --json lisp.trace
  python3 - <<'CHECK' 2>why || fail "$(cat why)"
import json
with open("out") as file: report = json.load(file)
site = next(site for site in report["sites"] if site["name"] == "keep (leak.lisp:5)" and site["self_blocks"]["samples"])
assert (site["module"], site["file"], site["line"]) == ("[Lisp]", "leak.lisp", 5), site
assert site["self_blocks"]["low"] <= 10000 and site["self_blocks"]["high"] >= 5000, site
CHECK
  succeeds report --all native.trace
  ! grep -q 'leak.lisp' out || fail "Lisp: $(cat out)"
  says 'main'
}

# A collected heap reserves far more addresses than it touches.
a_reserve_of_the_heap_is_not_private_memory() {
  local lisp=$build/examples/lisp/lisp
  [ -x "$lisp" ] || skip "there is no lisp"
  need jq
  cat >holds.lisp <<'PROGRAM'
(define (hold n kept)
  (if (> n 0) (hold (- n 1) (cons (make-vector 50 n) kept)) kept))
(print (length (hold 20000 '())))
PROGRAM
  WINNOW_TRACE=t WINNOW_RATE=0.01 WINNOW_SEED=1 "$lisp" holds.lisp >said || fail "lisp"
  succeeds report --json t
  jq -e '.memory | all(.private_bytes <= .rss_bytes) and (map(.private_bytes) | max) >= 8000000' out >/dev/null ||
    fail "private memory: $(jq -c .memory out)"
  succeeds report --all t
  says 'private .*█.*  [0-9.]+ MB after'
}

# Nothing is allocated by a realloc that makes a block no larger, though the block ends its life at that place.
shrinking_is_no_growth() {
  need jq
  local kind
  for kind in shrunk exact_shrunk; do
    make $kind t
    succeeds report --all --no-symbols t
    ! grep -Eq 'growth|^ +0 B|0[.]00 us' out || fail "$kind: $(cat out)"
    says 'Allocated over the run: [0-9.]+ [kM]B( \([0-9.–]+ MB\))? in [0-9,]+ calls'
    succeeds report --json --no-symbols t
    jq -e '[.churn[] | select(.total_bytes.samples == 0)] == []' out >/dev/null || fail "$kind: groups without samples"
    jq -e '.totals.allocated_bytes.samples == 200 and .churn[0].total_bytes.samples == 200' out >/dev/null || fail "$kind: $(jq .totals out)"
    jq -e '.churn[] | select(.self_bytes.samples == 200) | .life.samples == 200 and .life_median_ns == 20' out >/dev/null ||
      fail "$kind: a life at the wrong place"
  done
}

several_traces_are_told_apart() {
  make plain few 10
  make plain many 2000
  make exact exact
  make none none
  succeeds info none few exact many
  [ "$(LC_ALL=C grep -aoE '  (none|few|exact|many)  ' out | tr -d ' ' | tr '\n' ' ')" = "many exact few none " ] || fail "$(cat out)"
  local line
  line=$(LC_ALL=C grep -a ' exact ' out)
  [ "$(awk '{ print $1, $2, $3, $4 }' <<<"$line")" = "516 kB 1,000 exact" ] || fail "$line"
  LC_ALL=C grep -aq ' none .*pro"gram' out || fail "$(cat out)"
  LC_ALL=C says '< 20.1 kB +0  none'
  says '[0-9.]+ MB [0-9.]+–[0-9.]+ +3,010  all 4 $'
  ! LC_ALL=C grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' out || fail "control characters reach the terminal"
  succeeds report --all many
  grep -Eq "allocated $(awk '$6 == "many" { print $1, $2 }' <("$winnow" info many few))" out || fail "another estimate than the report's: $(cat out)"
  [ "$(COLUMNS=70 "$winnow" info many none | LC_ALL=C.UTF-8 wc -L)" -le 70 ] || fail "long lines"
  head -c 100000 /bin/sh >foreign
  run info foreign few nowhere many
  [ "$code" = 1 ] && [ "$(cat err)" = "winnow: 2 of 4 files cannot be read as traces" ] || fail "code $code: $(cat err)"
  LC_ALL=C says 'many.* few.* foreign is not a Winnow trace.* nowhere: No such file.* all 4, 2 cannot be read'
  need flock
  flock few "$winnow" info few many >out || fail "flock"
  LC_ALL=C says 'few .*[(]still being written[)]'
  ! LC_ALL=C grep -aq 'many.*still' out || fail "$(cat out)"
}
