# winnow export; sourced by run.
# shellcheck shell=bash disable=SC2154

# Adds up the values of stacks that have one, and writes "SUM NAME" for each innermost function, ordered by name.
by_innermost() { # lines "VALUE STACK"
  awk '$1 > 0 { value = $1; sub(/^[^ ]* /, ""); sub(/.*;/, ""); sum[$0] += value } END { for (name in sum) printf "%.0f %s\n", sum[name], name }' | sort -k 2
}

profile() { "$build/tests/export/show_profile" "$1" >shown || fail "$1 is no profile: $(tail -n 1 shown)"; }

# The samples of a profile as lines "VALUE STACK"; the value by its place.
samples_of() { # PLACE
  awk -v place="$1" '/^sample / { value = $(place + 1); for (i = 1; i <= 7; i++) sub(/^[^ ]* /, ""); print value, $0 }' shown
}

stacks_of_folded() { sed -E 's/^(.*) ([0-9]+)$/\2 \1/' "$1"; }

add_up() { awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }

is_near() { # NUMBER NUMBER MOST WHAT
  awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { exit !(a - b <= most && b - a <= most) }' || fail "$4: $1 and $2"
}

# The totals of the threads of a profile for the Firefox Profiler.
firefox_values() { # FILE
  jq '.threads[] | [(.nativeAllocations // .samples).weight[] | select(. > 0)] | add // 0' "$1"
}

# What the allocations of each innermost function that are not freed add up to, as lines "VALUE NAME".
firefox_retained() { # FILE THREAD
  jq -r --argjson thread "$2" '.shared as $shared | .threads[$thread].nativeAllocations
    | [.memoryAddress, .weight, .stack] | transpose | group_by(.[0])[] | select(all(.[]; .[1] > 0))[0]
    | "\(.[1]) \($shared.stringArray[$shared.funcTable.name[$shared.frameTable.func[$shared.stackTable.frame[.[2]]]]])"' "$1"
}

# Compares the totals of all formats with those of the report.
agrees() { # OPTION...
  need jq
  local place kind quantity total other
  succeeds report --json "$@" t.trace
  jq '.totals.allocated_blocks, .totals.allocated_bytes, .tree.blocks, .tree.total_bytes, .totals.live_at_end_bytes | .estimate' out >totals
  succeeds export -f pprof -o t.pb.gz "$@" t.trace
  profile t.pb.gz
  succeeds export -f speedscope "$@" t.trace
  mv out speedscope
  jq '.profiles[].endValue' speedscope >ends
  succeeds export -f dhat "$@" t.trace
  jq '[.pps[].tbk], [.pps[].tb], [.pps[].gbk], [.pps[].gb] | add // 0' out >ends.dhat
  is_near "$(jq '[.pps[].eb] | add // 0' out)" "$(sed -n 5p totals)" 0.51 "dhat $* at the end"
  jq -e '(.ftbl | length) as $frames | [.pps[] | .mb >= .gb and .mb >= .eb and (.fs | length) > 0 and ([.fs[] < $frames and .fs[] > 0] | all)] | all' out >/dev/null || fail "dhat $*: stacks"
  succeeds export -f firefox "$@" t.trace
  firefox_values out >ends.firefox
  jq -e '[.threads[].nativeAllocations // empty | .length > 0] | all' out >/dev/null || fail "firefox $*: an empty table has no times"
  for place in 1 2 3 4; do
    quantity=$(sed -n "$place p" <<<$'allocated-blocks\nallocated\nheld-blocks\nheld')
    total=$(sed -n "${place}p" totals)
    kind="$* $quantity"
    is_near "$(samples_of $place | add_up)" "$total" 0.51 "pprof $kind"
    is_near "$(sed -n "${place}p" ends)" "$total" 0.51 "speedscope $kind"
    is_near "$(sed -n "${place}p" ends.dhat)" "$total" 0.51 "dhat $kind"
    is_near "$(sed -n "${place}p" ends.firefox)" "$total" 0.51 "firefox $kind"
    [ $place != 3 ] || [ $# = 0 ] || continue
    succeeds export -f folded --quantity $quantity "$@" t.trace
    is_near "$(stacks_of_folded out | add_up)" "$total" 0.51 "folded $kind"
    [ $place = 4 ] || [ $place = 2 ] && [ $# = 0 ] || continue
    other=$(succeeds export -f json --quantity $quantity "$@" t.trace; jq '[.rows[].self_bytes.estimate, .rest.self_bytes.estimate] | add' out)
    is_near "$other" "$total" 0.51 "json $kind"
  done
  jq -e '([.profiles[].samples[][]] | unique) == [range(.shared.frames | length)]' speedscope >/dev/null || fail "speedscope $*: frames of no stack"
  jq -e '[.profiles[] | .endValue == (.weights | add // 0) and (.samples | length) == (.weights | length)] | all' speedscope >/dev/null || fail "speedscope $*: endValue"
}

exports_have_the_totals_of_the_report() {
  local kind
  for kind in plain exact none one bare shrunk collected zero_none; do
    make $kind t.trace
    agrees
  done
  make named t.trace
  agrees --at end
  agrees --at 0.4ms --by line
  agrees --by module --where 'size > 500'
  agrees --by file --where 'life < 100us' --at 0.5ms
  agrees --where 'hide ~ "short"'
  agrees --where 'from ~ "turned"' --by line
  agrees --where 'size > 1G'
}

# The innermost functions of all formats are the rows of the report, with the same bytes.
rows_agree() { # OPTION...
  local file
  succeeds export -f pprof -o t.pb.gz "$@" t.trace
  profile t.pb.gz
  samples_of 4 | by_innermost >rows.pprof
  succeeds export -f folded "$@" t.trace
  stacks_of_folded out | sed 's/^\([0-9]* .*\)_\([0-9.]*\)$/\1 \2/' | by_innermost >rows.folded
  succeeds export -f speedscope "$@" t.trace
  jq -r '.shared.frames as $frames | .profiles[3] | [.samples, .weights] | transpose[] | "\(.[1]) \($frames[.[0][-1]].name)"' out | by_innermost >rows.speedscope
  succeeds export -f firefox "$@" t.trace
  firefox_retained out 3 | by_innermost >rows.firefox
  succeeds report --json --top 100000 --sort self "$@" t.trace
  jq -r '.sites[] | select(.self_bytes.samples > 0) | "\(.self_bytes.estimate) \(.name)"' out | by_innermost >rows.report
  for file in pprof folded speedscope firefox; do
    [ "$(wc -l <rows.$file)" = "$(wc -l <rows.report)" ] || fail "$file $*: other rows: $(diff rows.$file rows.report)"
    paste -d ' ' rows.$file rows.report | awk '{ off = $1 - $(NF / 2 + 1) } off > 20 || off < -20 { exit 1 }' || fail "$file $*: $(diff rows.$file rows.report)"
    [ "$(cut -d ' ' -f 2- rows.$file)" = "$(cut -d ' ' -f 2- rows.report)" ] || fail "$file $*: other names: $(diff rows.$file rows.report)"
  done
}

exports_have_the_rows_of_the_report() {
  need jq
  make python t.trace
  rows_agree
  ! grep -qE 'Py[A-Z_]|list_resize' shown || fail "the interpreter's functions: $(grep -m 1 ^sample shown)"
  rows_agree --by line
  make build_1 t.trace # names without blanks and what is replaced
  rows_agree
  rows_agree --at end
  rows_agree --at 0.3ms --where 'size > 300'
  rows_agree --by line
  rows_agree --by module
  rows_agree --where 'hide ~ "0x.*0"'
  rows_agree --where 'from ~ "0x.*f" and hide ~ "prog.0x.*2"' --at end
  rows_agree --wrapper libprog+0x470 --wrapper prog+0x20 --wrapper libprog+0x10
  rows_agree --show-wrappers
  local options
  for options in "--sort self" "--by line --at end --sort self" "--sort total" "--sort blocks --by module"; do
    # shellcheck disable=SC2086
    succeeds report --json --top 100000 $options t.trace
    jq -S '.sites' out >expected
    # shellcheck disable=SC2086
    succeeds export -f json ${options/--sort self/} t.trace # the default
    jq -S '.rows' out | cmp -s - expected || fail "json $options: other rows"
  done
  succeeds report --json --top 3 --sort self t.trace
  jq -S '.allocated, .allocated_rest' out >expected
  succeeds export -f json --quantity allocated --top 3 t.trace
  jq -S '.rows, .rest' out | cmp -s - expected || fail "--top leaves other rows"
}

rows_as_csv_are_those_as_json() {
  need jq
  need perl
  local kind options
  for kind in odd plain collected none; do
    make $kind t.trace
    for options in "" "--by stack" "--quantity allocated --by line"; do
      # shellcheck disable=SC2086
      succeeds export -f csv $options t.trace
      # A reader of RFC 4180: prints each field in a line, as JSON would have the text.
      perl -0777 -ne '
        while (length) {
          s/\A(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)// or die "no field: " . substr($_, 0, 40);
          my ($field, $end) = (defined $1 ? $1 : $2, $3); $field =~ s/""/"/g; $field =~ s/\n/\\n/g;
          print "$field\n"; $columns++ if !$lines; $fields++;
          if ($end eq "\r\n") { $lines++; $fields == $columns or die "line $lines: $fields fields"; $fields = 0 }
        }' out >fields || fail "$kind $options: it is no CSV"
      cp out csv
      # shellcheck disable=SC2086
      succeeds export -f json $options t.trace
      jq -r '
        def disarmed: if test("^[-=+@]") then "\u0027" + . else . end;
        def cells: to_entries[] | .key as $name | .value
          | if type == "object" then [["", (.estimate // .median_ns // .median)], ["_low", (.low // .low_ns)], ["_high", (.high // .high_ns)], ["_samples", .samples]][] | [$name + .[0], .[1]]
            elif type == "array" then [$name, (map(gsub("[\u0000-\u001f\u007f-\u009f]"; "\ufffd")) | join("\n") | disarmed)]
            elif type == "string" then [$name, (gsub("[\u0000-\u001f\u007f-\u009f]"; "\ufffd") | disarmed)] else [$name, .] end;
        (.rows[0] // {} | cells | .[0]), (.rows[] | cells | .[1] | if . == null then "" else tostring | gsub("\n"; "\\n") end)' out >expected
      [ "$kind" = none ] || diff <(numbers <fields) <(numbers <expected) >differences || fail "$kind $options: $(head -n 5 differences)"
      head -n 1 csv | grep -q '^name,module,file,line,self_bytes,self_bytes_low,self_bytes_high,self_bytes_samples,' || fail "header: $(head -n 1 csv)"
    done
  done
}
# Numbers in one form, since jq has one of its own.
numbers() { awk '/^-?[0-9.]+(e[-+]?[0-9]+)?$/ { printf "%.10g\n", $0; next } { print }'; }

spreadsheets_find_no_formula_and_no_control_character() {
  make odd t.trace
  local by
  for by in function stack line; do
    succeeds export -f csv --by $by t.trace
    ! tr -d '\r\n' <out | LC_ALL=C grep -aq $'[\x01-\x1f\x7f]' || fail "by $by: control characters"
    ! grep -aEq '(^|,)"?[-=+@][^0-9]' out || fail "by $by: a formula: $(grep -aE '(^|,)"?[-=+@][^0-9]' out)"
    [ $by = line ] || grep -aq "\"'=1+1" out || fail "by $by: the name is lost: $(cat out)"
  done
}

odd_names_are_exported() {
  need jq
  make odd t.trace
  succeeds export -f folded t.trace
  ! grep -aqvE '^[^;].* [0-9]+$' out || fail "a line has no value: $(grep -avE ' [0-9]+$' out)"
  ! grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' out || fail "control characters"
  grep -q 'a:b' out && grep -q 'ends in_12.5 [0-9]*$' out && grep -q 'new?line' out && grep -q 'say "x"' out || fail "names: $(cat out)"
  ! awk '{ print NF }' FS=';' out | grep -qvxE '[1-9]' || fail "a semicolon divides a name"
  LC_ALL=C.UTF-8 grep -q 'Ω≈' out || fail "characters are lost"
  succeeds export -f pprof -o t.pb.gz t.trace
  profile t.pb.gz
  ! grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' shown || fail "control characters in a profile"
  grep -q 'a;b' shown && grep -q 'Ω≈' shown && grep -q 'ends in 12.5' shown || fail "names: $(cat shown)"
  succeeds export -f speedscope t.trace
  jq -r '.shared.frames[].name' out | grep -qx 'a;b' || fail "names in speedscope: $(jq -c '.shared.frames' out)"
  jq -e '[.shared.frames[].name] | index("new\nline")' out >/dev/null || fail "a line feed is lost"
  for kind in plain named hostile; do
    make $kind t.trace
    for format in folded speedscope firefox dhat csv json; do
      succeeds export -f $format t.trace
      iconv -f utf-8 -t utf-8 out >/dev/null || fail "$kind $format: no UTF-8"
    done
    succeeds export -f pprof -o t.pb.gz t.trace
    profile t.pb.gz
    iconv -f utf-8 -t utf-8 shown >/dev/null || fail "$kind pprof: no UTF-8"
  done
}

profiles_describe_themselves() {
  make plain t.trace
  mkdir folder
  mv t.trace folder/run.trace
  succeeds export -f pprof --at end --where 'size > 20' folder/run.trace
  [ "$(cat out)" = run.pb.gz ] || fail "it prints $(cat out)"
  profile run.pb.gz
  [ "$(sed -n 's/^type //p' shown | tr '\n' ' ')" = "alloc_objects count alloc_space bytes inuse_objects count inuse_space bytes alloc_samples count inuse_samples count " ] || fail "$(grep ^type shown)"
  grep -qx 'default inuse_space' shown || fail "$(grep ^default shown)"
  grep -qx 'period 8000 space bytes' shown || fail "$(grep ^period shown)"
  grep -qx 'time 1700000000000000000 3000000' shown || fail "$(grep ^time shown)"
  grep -q '^comment Program: /bin/pro"gram --op?tion ?$' shown || fail "$(grep ^comment shown)"
  grep -qx 'comment Only blocks where: size > 20' shown || fail "$(grep ^comment shown)"
  grep -q '^comment .*held at end (0.003 s' shown || fail "$(grep ^comment shown)"
  "$winnow" report --json --at end --where 'size > 20' folder/run.trace | jq -r '.totals.allocated_bytes | "comment alloc_space: \(.estimate | round), 95 % interval \(.low | round) to \(.high | round), from \(.samples) samples"' >expected
  grep -qxF "$(cat expected)" shown || fail "no '$(cat expected)' in $(grep ^comment shown)"
  grep -q '^mapping /nowhere/b\\in' shown || fail "$(grep ^mapping shown)"
  succeeds export -f pprof -q allocated -o t.pb.gz folder/run.trace
  profile t.pb.gz
  grep -qx 'default alloc_space' shown || fail "$(grep ^default shown)"
  make build_1 t.trace
  succeeds export -f pprof t.trace
  profile t.pb.gz
  grep -qE '^mapping /nowhere/libprog.so (21){20}$' shown || fail "build-id: $(grep ^mapping shown)"
  # Numbers of every block have no interval, and are not called estimates.
  cp t.trace named.trace
  make exact t.trace
  succeeds export -f pprof t.trace
  profile t.pb.gz
  grep -qE '^comment Written by winnow .* from a trace of every block\.$' shown && grep -q '^comment The values are exact' shown || fail "exact: $(grep ^comment shown)"
  grep -qE '^comment inuse_space: [0-9]+$' shown && ! grep -Eq '^comment .*(interval|sampled|estimate)' shown || fail "exact: $(grep ^comment shown)"
  succeeds export -f firefox t.trace
  jq -r '.meta.extra[].entries[].value' out >notes
  grep -q '^exact, ' notes && ! grep -Eq 'interval|estimate' notes || fail "exact: $(cat notes)"
  mv named.trace t.trace
  succeeds export -f pprof t.trace
  # The file is the same whenever it is written.
  cp t.pb.gz first
  succeeds export -f pprof -o - t.trace
  cmp -s out first || fail "standard output has another profile"
}

profiles_of_programs_have_lines_and_no_wrappers() {
  need_many_blocks
  need_recording
  local option
  succeeds record -q --rate 1e-2 -o t.trace -- "$build/tests/cli/programs/allocates" wrapped
  for option in "" "--by function" "--by line"; do
    # shellcheck disable=SC2086
    succeeds export -f pprof $option t.trace
    profile t.pb.gz
    grep '^mapping ' shown | head -n 1 | grep -qE '^mapping .*/programs/allocates [0-9a-f]+ functions files lines' || fail "the first file is $(grep -m 1 ^mapping shown)"
    grep -qE '^sample .*;order( \(allocates.c:[0-9]+\))?$' shown || fail "$option: nothing by its caller: $(grep ^sample shown)"
    ! grep -q xmalloc shown || fail "$option: a wrapper"
  done
  succeeds export -f pprof --show-wrappers t.trace
  profile t.pb.gz
  grep -qE '^sample .*;order;xmalloc$' shown || fail "no wrapper: $(grep ^sample shown)"
  succeeds export -f memtrace -o t.ctf t.trace
  succeeds dump t.ctf
  grep -qE ' order@[^ ]*$' out && ! grep -q xmalloc out || fail "a wrapper for Memtrace: $(grep -m 1 xmalloc out)"
  succeeds export -f memtrace -o t.ctf --show-wrappers t.trace
  succeeds dump t.ctf
  grep -qE ' order@[^ ]* xmalloc@[^ ]*$' out || fail "no wrapper for Memtrace"
  # For the Firefox Profiler functions have lines, and the files and modules that they are in.
  need jq
  succeeds export -f firefox t.trace
  jq -r '.libs as $libs | .shared | .stringArray as $text | .funcTable as $of | .sources as $files | .resourceTable as $modules
    | def text($column; $place): if $place == null or $place < 0 then "" else $text[$column[$place]] end;
      [.frameTable.func, .frameTable.line, .frameTable.lib] | transpose[] | .[0] as $i
    | "\($text[$of.name[$i]]) \(text($files.filename; $of.source[$i])):\(.[1]) \(text($modules.name; $of.resource[$i])) \($libs[.[2]].path)"' out >frames
  grep -qE '^order .*/allocates.c:[0-9]+ allocates /.*/programs/allocates$' frames || fail "no line: $(cat frames)"
  jq -r '.libs[] | select(.codeId) | "\(.codeId) \(.breakpadId)"' out >ids
  [ -s ids ] || fail "no build-id: $(jq -c .libs out)"
  sed -E 's/^(..)(..)(..)(..)(..)(..)(..)(..)(.{16}).* .*/\4\3\2\1\6\5\8\7\90/' ids | tr a-f A-F | diff - <(cut -d ' ' -f 2 ids) >differences || fail "names of builds: $(cat differences)"
  grep -qE '^_start :null allocates ' frames && ! grep -F '+0x' frames | grep -q '(' || fail "no function without a line: $(cat frames)"
  ! grep -q xmalloc frames || fail "a wrapper for the Firefox Profiler: $(grep xmalloc frames)"
}

# The sum of a column of the rows of some kinds.
of_kind() { # PATTERN COLUMN
  awk -F '\t' -v kind="$1" -v column="$2" '$8 ~ kind { sum += $column } END { printf "%.17g", sum }' t-clickhouse/samples.tsv
}

rows_for_clickhouse_have_the_totals_of_the_report() {
  need jq
  local kind
  for kind in plain exact none shrunk named collected; do
    make $kind t.trace
    rm -rf t-clickhouse
    succeeds report --json --at end t.trace
    jq '.totals.allocated_bytes, .totals.allocated_blocks, .totals.live_at_end_bytes | .estimate' out >totals
    succeeds export -f clickhouse_tsv t.trace
    is_near "$(of_kind born 13)" "$(sed -n 1p totals)" 1e-3 "$kind: allocated"
    is_near "$(of_kind born 19)" "$(sed -n 2p totals)" 1e-3 "$kind: allocated blocks"
    is_near "$(of_kind "^(held|left)\$" 13)" "$(sed -n 3p totals)" 1e-3 "$kind: held"
    cut -f 9 t-clickhouse/samples.tsv | sort -u >used
    cut -f 1 t-clickhouse/sites.tsv | sort -u | diff used - >differences || fail "$kind: sites: $(cat differences)"
    cut -f 10 t-clickhouse/samples.tsv | sort -u >used
    cut -f 1 t-clickhouse/stacks.tsv | sort -u | diff used - >differences || fail "$kind: stacks: $(cat differences)"
    cut -f 3 t-clickhouse/stacks.tsv | tr -d '[]' | tr , '\n' | sed '/^$/d' | sort -u >used
    cut -f 1 t-clickhouse/frames.tsv | sort -u | diff used - >differences || fail "$kind: frames: $(cat differences)"
    succeeds export -f clickhouse -o binary-$kind t.trace
    [ "$(cd binary-$kind && echo *)" = 'frames.rowbinary loads.rowbinary samples.rowbinary sites.rowbinary stacks.rowbinary' ] || fail "$(ls binary-$kind)"
  done
}

wrong_exports_are_refused() {
  make plain t.trace
  cp t.trace before
  local formats='pprof, folded, speedscope, firefox, dhat, memtrace, memtrace2, ctf, clickhouse, clickhouse_tsv, csv or json'
  refused 2 "^winnow export: --format nonsense: it must be $formats\$" export --format nonsense t.trace
  refused 2 'which format' export t.trace
  refused 2 'which trace' export -f csv
  refused 2 'it must be allocated-blocks, allocated, held-blocks or held' export -f csv --quantity 3 t.trace
  refused 2 'are for formats with rows, and folded has stacks' export -f folded --top 3 t.trace
  refused 2 'are for formats with rows, and pprof has stacks' export -f pprof --sort total t.trace
  refused 2 't.trace is the trace' export -f csv -o t.trace t.trace
  refused 2 'give the output a name' export -f pprof -
  refused 2 'after the end' export -f csv --at 10s t.trace
  refused 2 '--where: query, column 4' export -f csv --where 'fn is x' t.trace
  refused 2 'no sampled stack has a function' export -f csv --wrapper nobody t.trace
  refused 1 'absent: No such file' export -f csv absent
  echo "no trace" >wrong
  refused 1 'wrong' export -f pprof wrong
  local format
  for format in pprof folded speedscope firefox dhat csv json; do
    refused 1 'cannot write nowhere/t: No such file' export -f $format -o nowhere/t t.trace
    refused 1 'cannot write \.: Is a directory' export -f $format -o . t.trace
    refused 1 'cannot write /dev/full: No space left' export -f $format -o /dev/full t.trace
    (ulimit -f 1; "$winnow" export -f $format -o limited t.trace 2>err)
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "$format without room: $(cat err)"
    "$winnow" export -f $format -o - t.trace >/dev/full 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "$format to a full device: $(cat err)"
  done
  if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    refused 1 'cannot write closed/t: Permission denied' export -f pprof -o closed/t t.trace
  fi
  cmp -s t.trace before || fail "the trace was changed"
  rm -rf out err before wrong t.trace closed
  [ -z "$(ls)" ] || fail "failures leave $(ls)"
}

binary_exports_are_kept_from_terminals() {
  need script
  make plain t.trace
  script -qec "$winnow export -f pprof -o - t.trace; echo code \$?" typescript >/dev/null </dev/null
  grep -q 'pprof is binary and nothing for a terminal; give it a name with -o FILE' typescript && grep -q 'code 2' typescript || fail "$(cat typescript)"
  script -qec "$winnow export -f pprof t.trace; $winnow export -f folded t.trace" typescript >/dev/null </dev/null
  [ -s t.pb.gz ] || fail "no profile: $(cat typescript)"
  grep -q ';' typescript || fail "no stacks on the terminal: $(cat typescript)"
}

pprof_reads_profiles() {
  local go kind type
  go=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -n 1)
  [ -n "$go" ] || skip "there is no go, which has pprof"
  export PPROF_TMPDIR=$work HOME=$work
  for kind in plain named odd exact one build_1 collected bare; do
    make $kind t.trace
    succeeds export -f pprof t.trace
    profile t.pb.gz
    "$go" tool pprof -symbolize=none -top -unit=B t.pb.gz >top 2>err || fail "$kind: pprof -top: $(cat err)"
    "$go" tool pprof -symbolize=none -traces t.pb.gz >traces 2>err || fail "$kind: pprof -traces: $(cat err)"
    for type in 1:alloc_objects 2:alloc_space 3:inuse_objects 4:inuse_space 5:alloc_samples; do
      "$go" tool pprof -symbolize=none -top -unit=B -nodefraction=0 -sample_index=${type#*:} t.pb.gz 2>err | sed -nE 's/.* of ([0-9]+)B? total$/\1/p' >said
      [ "$(cat said)" = "$(samples_of ${type%:*} | add_up)" ] || fail "$kind: pprof has $(cat said) for $type, not $(samples_of ${type%:*} | add_up)"
    done
  done
  make build_1 t.trace
  succeeds export -f pprof -o a.pb.gz --at 0.5ms t.trace
  succeeds export -f pprof -o b.pb.gz --at end t.trace
  "$go" tool pprof -symbolize=none -top -unit=B -nodefraction=0 -base a.pb.gz b.pb.gz >top 2>err || fail "pprof -base: $(cat err)"
  profile a.pb.gz
  local before after
  before=$(samples_of 4 | add_up)
  profile b.pb.gz
  after=$(samples_of 4 | add_up)
  [ "$(awk '$1 ~ /^-?[0-9.]+B?$/ && NF >= 6 { sum += $1 } END { print sum }' top)" = $((after - before)) ] || fail "the difference is not $((after - before)): $(cat top)"
}

flamegraphs_are_drawn() {
  need perl
  local program kind
  program=$(command -v flamegraph.pl || ls /usr/share/perl5/Devel/NYTProf/flamegraph.pl 2>/dev/null)
  [ -n "$program" ] || skip "there is no flamegraph.pl"
  for kind in plain named odd; do
    make $kind t.trace
    succeeds export -f folded t.trace
    perl "$program" --countname=bytes --minwidth=0 out >graph.svg 2>err || fail "$kind: $(cat err)"
    [ ! -s err ] || fail "$kind: it warns: $(head -n 3 err)"
    # The bar at the foot has all bytes.
    [ "$(grep -oE '>all \([0-9,]+ bytes' graph.svg | tr -dc 0-9)" = "$(stacks_of_folded out | add_up)" ] || fail "$kind: all: $(grep -o '>all ([^<]*' graph.svg)"
  done
}

# In a trace of all blocks, every number of a file for DHAT is that of the trace.
files_for_dhat_have_lives() {
  make plain t
  succeeds export -f dhat --where 'life < 100us' -o t.dhat t # bytes of less than half of a block
  succeeds report t.dhat
  need jq
  make exact t.trace # block i of 16 + i % 1000 bytes is born at i us; block i / 2 dies at i + 0.5 us if 4 divides i
  succeeds export -f dhat --at 0.5ms t.trace
  awk 'BEGIN { for (i = 1; i <= 1000; i++) { end = i % 2 || 2 * i > 1000 ? 3000 : 2 * i + 0.5; life += end - i } printf "%.0f\n", life }' >life
  is_near "$(jq '[.pps[].tl] | add' out)" "$(cat life)" 1000 "the lives"
  [ "$(jq -c '.dhatFileVersion, .te, .tg, .pid' out | tr '\n' ' ')" = "2 3000 500 1 " ] || fail "$(jq -c 'del(.pps, .ftbl)' out)"
}

dhat_shows_its_files() {
  need chromium
  local viewer kind
  viewer=$(ls /usr/libexec/valgrind/dh_view.js /usr/lib/valgrind/dh_view.js 2>/dev/null | head -n 1)
  [ -n "$viewer" ] || skip "there is no viewer of DHAT"
  for kind in plain odd; do
    make $kind t.trace
    succeeds export -f dhat t.trace
    # What dh_view.html does with a file.
    {
      echo "<script src=\"file://$viewer\"></script><body><script>onLoad(); gFilename = 't'; gData ="
      sed 's|</|<\\/|g' out
      echo "; tryFunc(() => { buildTree(); displayTree(1, 1, 1); })</script></body>"
    } >page.html
    HOME=$work chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=20000 \
      --dump-dom "file://$work/page.html" >page 2>/dev/null || fail "chromium failed"
    sed 's/<[^>]*>//g' page | tr -d ',' >text
    grep -q "Total: *$(jq '[.pps[].tb] | add' out) bytes" text || fail "$kind: $(head -c 3000 text)"
    grep -q "At t-gmax: *$(jq '[.pps[].gb] | add' out) bytes" text || fail "$kind: $(head -c 3000 text)"
  done
}

# With the package `speedscope`, which viewer/make installs.
speedscope_imports_its_files() {
  need chromium
  local release=$source/viewer/node_modules/speedscope/dist/release kind
  [ -e "$release/index.html" ] || skip "there is no speedscope, which viewer/make installs"
  for kind in plain odd; do
    make $kind t.trace
    succeeds export -f speedscope t.trace
    printf 'speedscope.loadFileFromBase64("t.json", "%s")' "$(base64 -w 0 out)" >load.js
    jq '.profiles[0].endValue' out >blocks
    HOME=$work chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=20000 \
      --dump-dom "file://$release/index.html#localProfilePath=$work/load.js" >page 2>/dev/null || fail "chromium failed"
    grep -qE 'held bytes <span[^>]*>\(4/4\)' page || fail "$kind: it does not open: $(head -c 2000 page)"
    grep -oE '<span>allocated blocks</span></td><td[^>]*>[0-9,]+' page | sed 's/.*>//' | tr -d , | grep -qxF "$(cat blocks)" || fail "$kind: other totals"
  done
}

# The tables are whole: columns have the length of their table, and name rows that exist.
profiles_for_firefox_are_whole() {
  need jq
  local kind options
  for kind in plain named odd one none bare collected shrunk; do
    for options in "" "--at end" "--by module --at 0.4ms" "--quantity allocated-blocks --where 'size > 100'"; do
      make $kind t.trace
      eval "succeeds export -f firefox $options t.trace"
      jq -r '
        def whole($name): .length as $length | to_entries[] | select(.value | type == "array") | select((.value | length) != $length) | "\($name).\(.key) has \(.value | length) rows of \($length)";
        def within($name; $least; $most): .[] | select(. != null and (. < $least or . >= $most)) | "\($name): \(.)";
        (.libs | length) as $libs | .shared as $shared | ($shared.stringArray | length) as $strings
        | ($shared | to_entries[] | .key as $name | .value | objects | whole($name)),
          (.threads[] | .name as $name | (.samples, .markers, .nativeAllocations // {length: 0}) | whole($name)),
          ($shared | .stackTable.length as $stacks | .frameTable.length as $frames | .funcTable.length as $functions
            | (.stackTable.frame | within("frame"; 0; $frames)), (.frameTable.func | within("func"; 0; $functions)),
              (.frameTable.lib | within("lib"; -1; $libs)), (.funcTable.name | within("name"; 0; $strings)),
              (.funcTable.resource | within("resource"; -1; $shared.resourceTable.length)),
              (.funcTable.source | within("source"; 0; $shared.sources.length)),
              (.resourceTable.name, .sources.filename | within("text"; 0; $strings)),
              (.stackTable.prefixOffset | to_entries[] | select(.value < 0 or .value > .key) | "prefixOffset \(.value) at \(.key)"),
              (if ([.stackTable.frame[]] | unique) == [range($frames)] then empty else "frames of no stack" end),
              (if ([.frameTable.func[]] | unique) == [range($functions)] then empty else "functions of no frame" end)),
          (.threads[] | .name as $name | .samples, .nativeAllocations // empty
            | (.stack | within($name; 0; $shared.stackTable.length)),
              (if .time == (.time | sort) then empty else "\($name): times" end)),
          (.threads[] | .name as $name | .nativeAllocations // empty | [.memoryAddress, .weight, .stack] | transpose | group_by(.[0])[]
            | select((length == 1 and .[0][1] > 0 or length == 2 and .[0][1] > 0 and .[0][1] == - .[1][1] and .[0][2] == .[1][2]) | not) | "\($name): \(.)"),
          ((if .meta.initialSelectedThreads == [3] or $quantity then empty else "selected: \(.meta.initialSelectedThreads)" end))' \
        --argjson quantity "$([[ $options == *quantity* ]] && echo true || echo false)" out >wrong || fail "$kind $options: no JSON"
      [ ! -s wrong ] || fail "$kind $options: $(head -n 5 wrong)"
    done
  done
  [ "$(jq -c '[.meta.preprocessedProfileVersion, .meta.initialSelectedThreads]' out)" = '[70,[0]]' ] || fail "$(jq -c .meta out)"
  # What is held of what was allocated is not freed.
  make plain t.trace
  succeeds export -f firefox --at 0.4ms t.trace
  [ "$(firefox_retained out 1 | add_up)" = "$(firefox_values out | sed -n 4p)" ] || fail "retained: $(firefox_retained out 1 | add_up), not $(firefox_values out)"
  make build_1 t.trace
  succeeds export -f folded --by function t.trace
  stacks_of_folded out | sort >expected
  succeeds export -f firefox --by function t.trace
  jq -r '.shared as $shared
    | def name: $shared.stringArray[$shared.funcTable.name[$shared.frameTable.func[$shared.stackTable.frame[.]]]];
      def stack: $shared.stackTable.prefixOffset[.] as $offset | (if $offset == 0 then "" else (. - $offset | stack) + ";" end) + name;
      .threads[3].nativeAllocations | [.weight, .stack] | transpose[] | "\(.[0]) \(.[1] | stack)"' out | sort | diff - expected >differences || fail "stacks: $(head -n 5 differences)"
  succeeds export -f firefox t.trace
  [ "$(jq -c '.libs[0] | [.name, .path, .breakpadId, .codeId]' out)" = "[\"libprog.so\",\"/nowhere/libprog.so\",\"$(printf 21%.0s {1..16})0\",\"$(printf 21%.0s {1..20})\"]" ] || fail "$(jq -c .libs out)"
}

# With the command of the Firefox Profiler, which viewer/make installs; it needs Node 24.
the_firefox_profiler_reads_its_files() {
  need jq
  local cli=$source/viewer/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js kind
  [ -e "$cli" ] || skip "there is no command of the Firefox Profiler, which viewer/make installs"
  need node
  [ "$(node -p 'parseInt(process.versions.node)')" -ge 24 ] || skip "node is older than version 24"
  export PROFILER_CLI_SESSION_DIR=$work/sessions HOME=$work
  profiler() { node "$cli" "$@" >said 2>err || { node "$cli" stop --all >/dev/null 2>&1; fail "$kind: profiler-cli $*: $(head -c 400 said err)"; }; }
  total() { jq '.categoryBreakdown.totalSamples // .totalSamples // 0' said; } # of `thread samples`
  for kind in plain named odd collected build_1; do # of `collected` nothing is held then
    make $kind t.trace
    succeeds export -f firefox --at 0.4ms -o t.firefox.json t.trace
    firefox_values t.firefox.json >values
    profiler load t.firefox.json
    profiler profile info --all
    grep -q 'held bytes' said || fail "$kind: $(cat said)"
    for thread in 0 1 2 3; do
      profiler thread samples --thread t-$thread --json
      [ "$(total)" = "$(sed -n "$((thread + 1))p" values)" ] || fail "$kind thread $thread: $(total), not $(cat values)"
    done
    profiler thread select t-1
    profiler strategy native-retained-allocations
    for thread in 1 3; do
      profiler thread samples --thread t-$thread --json
      [ "$(total)" = "$(sed -n 4p values)" ] || fail "$kind: retained in thread $thread: $(total), not $(cat values)"
    done
    profiler stop --all
  done
}

memtrace_reads_what_is_exported() {
  need jq
  local kind format blocks
  for kind in plain named odd exact none shrunk collected; do
    make $kind t.trace
    succeeds report --json t.trace
    jq -r '.totals.allocated_blocks.samples, .totals.live_at_end_blocks.samples' out >samples
    for format in memtrace memtrace2; do
      succeeds export -f $format -o t.ctf t.trace
      succeeds report --json t.ctf
      jq -r '.totals.allocated_blocks.samples, .totals.live_at_end_blocks.samples' out | cmp -s samples - || fail "$kind as $format: other samples than $(cat samples)"
      [ "$kind" != exact ] || is_near "$(jq .totals.allocated_blocks.estimate out)" "$(head -n 1 samples)" 0.5 "exact blocks of $format"
      cp t.ctf first.ctf
      succeeds export -f $format -o t.ctf first.ctf
      cmp -s first.ctf t.ctf || fail "$kind as $format: the copy has other bytes"
    done
  done
  # Memtrace's hotspots stops at an empty stack.
  make bare t.trace
  for format in memtrace memtrace2 'memtrace --by function'; do
    # shellcheck disable=SC2086
    succeeds export -f $format -o t.ctf t.trace
    succeeds dump t.ctf
    ! grep -Eq ' alloc.*: *$' out || fail "$format: an empty stack"
    [ "$(grep -c ': (no callstack)@:0:0-0$' out)" = 100 ] || fail "$format: $(grep -c 'no callstack' out) of 100 blocks without a callstack"
  done
  make plain t.trace
  succeeds export -f memtrace -o all.ctf t.trace
  succeeds export -f memtrace -o large.ctf --where 'size >= 1k' t.trace
  succeeds export -f memtrace -o held.ctf --at end t.trace
  blocks=$(succeeds report --json --where 'size >= 1k' t.trace; jq .totals.allocated_blocks.samples out)
  succeeds dump large.ctf
  [ "$(grep -c ' alloc' out)" = "$blocks" ] || fail "--where: not $blocks blocks"
  blocks=$(succeeds report --json t.trace; jq .totals.live_at_end_blocks.samples out)
  succeeds dump held.ctf
  [ "$(grep -c ' alloc' out)" = "$blocks" ] && ! grep -q ' collect' out || fail "--at end: not $blocks blocks"
  # With --by, its functions are the groups of the report, on the report's stacks.
  make build_1 t.trace
  for kind in function line file module process; do
    succeeds export -f memtrace -o t.ctf --by $kind t.trace
    succeeds report --json --top 100000 --sort self --by $kind t.trace
    jq -r '.allocated[] | select(.self_bytes.samples > 0) | "\(.self_bytes.samples) \(.name)"' out | sort >expected
    succeeds report --json --top 100000 --sort self --by function --show-wrappers t.ctf
    jq -r '.allocated[] | select(.self_bytes.samples > 0) | "\(.self_bytes.samples) \(.name)"' out | sort | diff - expected >differences || fail "--by $kind: $(cat differences)"
    succeeds export -f folded --quantity allocated-blocks --by $kind t.trace
    sed 's/ [0-9]*$//' out | sort >expected
    succeeds export -f folded --quantity allocated-blocks --show-wrappers t.ctf
    sed 's/ [0-9]*$//' out | sort | diff - expected >differences || fail "stacks --by $kind: $(cat differences)"
  done
}

# What babeltrace2 prints of a folder, with numbers as lines "EVENT NAME=VALUE...".
events_of() { # FOLDER
  LC_ALL=C.UTF-8 babeltrace2 --no-delta "$1" >text 2>err || fail "babeltrace2: $(head -n 3 err)"
  [ ! -s err ] || fail "babeltrace2 warns: $(head -n 3 err)"
  sed -nE 's/^\[[0-9:.]+\] [^ ]* ([a-z]+): /\1 /; s/ = /=/g; s/[][{},]//g; p' text >events
}

# Adds the events up, as the format's text says: allocated blocks and bytes, blocks and bytes held at the end, allocations. A place must
# come before the stacks that have it, and a block before what happens to it.
sums_of_events() {
  awk '
    { delete value; for (i = 2; i <= NF; i++) if (split($i, pair, "=") == 2 && !(pair[1] in value)) value[pair[1]] = pair[2]; block = value["block"] }
    $1 == "place" { known[value["place"]] = 1 }
    $1 == "allocate" && block in size { print "block " block " is allocated twice"; exit }
    ($1 == "resize" || $1 == "die" || $1 == "promote") && !(block in size) { print $1 " of no block " block; exit }
    $1 == "allocate" || $1 == "resize" {
      size[block] = value["size"]; weight[block] = value["weight"]
      if (value["call"]) { blocks += weight[block]; bytes += weight[block] * size[block]; calls++ }
      depth = 0
      for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+=[0-9]+$/) { sub(/.*=/, "", $i); depth++; if (!($i in known)) { print "no place " $i; exit } }
      if (depth != value["depth"]) { print "depth " depth ": " $0; exit }
    }
    $1 == "die" { delete size[block] }
    END { for (block in size) { held += weight[block]; held_bytes += weight[block] * size[block] }; printf "%.2f %.2f %.2f %.2f %d\n", blocks, bytes, held, held_bytes, calls }' events
}

# babeltrace2 prints six digits of a weight.
events_agree() { # OPTION... of the report
  succeeds report --json "$@" t.trace
  jq -r '.totals | [.allocated_blocks, .allocated_bytes, .live_at_end_blocks, .live_at_end_bytes | .estimate] + [.allocated_blocks.samples] | join(" ")' out >expected
  sums_of_events >sums
  paste -d ' ' sums expected | awk 'NF != 10 { exit 1 } { for (i = 1; i <= 5; i++) { off = $i - $(i + 5); most = 2e-5 * $i; if (off > most + 0.01 || off < -most - 0.01) exit 1 } }' ||
    fail "$* events: $(cat sums), not $(cat expected)"
}

babeltrace_reads_what_is_exported() {
  need jq
  need babeltrace2
  local kind
  for kind in plain named odd exact none one bare shrunk exact_shrunk collected hostile; do
    make $kind t.trace
    rm -rf t-ctf copy
    succeeds export -f ctf t.trace
    [ "$(cat out)" = t-ctf ] && [ "$(cd t-ctf && echo *)" = "metadata stream" ] || fail "$kind: $(cat out) with $(ls t-ctf)"
    events_of t-ctf
    events_agree
    iconv -f utf-8 -t utf-8 text >/dev/null || fail "$kind: no UTF-8"
    # What reads the folder to write it anew finds the same.
    cp text first
    babeltrace2 t-ctf --component sink.ctf.fs --params 'path="copy"' --params quiet=yes 2>err || fail "$kind as ctf: $(head -n 3 err)"
    [ ! -s err ] || fail "$kind as ctf: $(head -n 3 err)"
    events_of copy
    cmp -s first text || fail "$kind: the copy differs: $(diff first text | head -n 4)"
  done
  make collected t.trace
  rm -rf t-ctf
  succeeds export -f ctf t.trace
  events_of t-ctf
  [ "$(grep -c '^promote ' events)" = 400 ] || fail "$(grep -c '^promote ' events) promotions"
  grep -q '^allocate .*area=( "minor" ' events && grep -q '^allocate .*size=80000 .*area=( "major" ' events || fail "areas: $(grep -m 2 ^allocate events)"
  # The query selects intervals: of `shrunk`, the ones before a block became smaller, or those after.
  for kind in "plain size>100" "plain life<=100us" "shrunk size>=100" "shrunk size<100" "collected promoted=yes"; do
    make "${kind%% *}" t.trace
    rm -rf t-ctf
    succeeds export -f ctf --where "${kind#* }" t.trace
    events_of t-ctf
    events_agree --where "${kind#* }"
  done
  make plain t.trace
  rm -rf t-ctf
  succeeds export -f ctf --at 0.4ms t.trace
  succeeds report --json --at 0.4ms t.trace
  jq '.tree.blocks.estimate, .tree.total_bytes.estimate' out >expected
  events_of t-ctf
  sums_of_events >sums
  is_near "$(cut -d ' ' -f 1 sums)" "$(head -n 1 expected)" 0.5 "blocks at 0.4 ms"
  is_near "$(cut -d ' ' -f 2 sums)" "$(tail -n 1 expected)" 50 "bytes at 0.4 ms"
}

# The groups of the report are the places, and its stacks those of the events.
babeltrace_reads_groups() {
  need jq
  need babeltrace2
  local kind options
  make build_1 t.trace
  for kind in function line file module process; do
    for options in "" "--at end" '--where size>=300' '--where hide~"0x.*0"'; do
      rm -rf t-ctf
      # shellcheck disable=SC2086
      succeeds export -f ctf --by $kind $options t.trace
      events_of t-ctf
      sums_of_events >sums
      # shellcheck disable=SC2086
      succeeds report --json --by $kind $options t.trace
      jq '.tree.total_bytes.estimate' out >total
      [ "$options" != "--at end" ] || is_near "$(cut -d ' ' -f 4 sums)" "$(cat total)" 5 "--by $kind $options: held"
      [ "$options" = "--at end" ] || events_agree ${options:+--where "${options#--where }"} --by $kind
      sed -nE 's/^place .* function="(.*)" file="" .*/\1/; T; s/\\(.)/\1/g; p' events | sort -u >places
      # shellcheck disable=SC2086
      succeeds export -f folded --quantity allocated-blocks --by $kind $options t.trace
      [ "$options" = "--at end" ] || sed 's/ [0-9]*$//' out | tr ';' '\n' | sort -u | diff - places >differences || fail "--by $kind $options: $(cat differences)"
    done
  done
}

ctf_counts_blocks_that_grow() {
  need_recording
  need jq
  need babeltrace2
  succeeds record -q --rate 1e-2 --seed 1 -o t.trace -- "$build/tests/cli/programs/appends"
  succeeds export -f ctf t.trace
  events_of t-ctf
  grep -q '^resize .* call=1 ' events || fail "no block grows: $(cut -d ' ' -f 1 events | sort | uniq -c)"
  events_agree
}

# Times count from 1970; each packet says when its first and last event are.
ctf_has_times_packets_and_threads() {
  need jq
  need babeltrace2
  make many t.trace 20000
  succeeds export -f ctf t.trace
  babeltrace2 --clock-gmt --clock-date t-ctf | head -n 1 | grep -q '^\[2023-11-14 22:13:20.000000000\] .* thread: { thread = 1 }, { name = "main" }' || fail "start: $(babeltrace2 --clock-gmt --clock-date t-ctf | head -n 1)"
  babeltrace2 t-ctf --component sink.text.details | tr -d , | awk '
    / cycles / { sub(/^\[/, ""); time = $1; next }
    !/^(Event|Packet (beginning|end))/ { next }
    time + 0 < last { print "time " time " after " last; exit }
    /^Packet end/ && time != last || opened && time != last { print "a packet at " time ", an event at " last; exit }
    { opened = /^Packet beginning/; packets += opened; last = time; events += /^Event/ }
    END { print packets, events }' >packets
  [ "$(cut -d ' ' -f 2 packets)" = "$(babeltrace2 t-ctf | wc -l)" ] && [ "$(cut -d ' ' -f 1 packets)" -gt 3 ] || fail "$(cat packets)"
  make plain t.trace
  rm -rf t-ctf
  succeeds export -f ctf --where 'thread = "main"' t.trace
  events_of t-ctf
  blocks=$(succeeds report --json --where 'thread = "main"' t.trace; jq .totals.allocated_blocks.samples out)
  [ "$blocks" -gt 0 ] && [ "$(grep -cE '^allocate +thread=1 ' events)" = "$blocks" ] && [ "$(grep -c ^allocate events)" = "$blocks" ] || fail "$blocks: $(grep -m 3 ^allocate events)"
}

folders_are_written_whole() {
  make plain t.trace
  refused 2 'ctf is a folder; give it a name with -o FOLDER' export -f ctf -o - t.trace
  refused 2 'give the output a name' export -f ctf -
  refused 2 't.trace is the trace' export -f ctf -o t.trace t.trace
  refused 1 'cannot write nowhere/t: No such file' export -f ctf -o nowhere/t t.trace
  refused 1 'cannot write \.: Directory not empty' export -f ctf -o . t.trace
  echo kept >file
  refused 1 'cannot write file: Not a directory' export -f ctf -o file t.trace
  mkdir full
  cp file full/kept
  refused 1 'cannot write full: Directory not empty' export -f ctf -o full t.trace
  (ulimit -f 1; "$winnow" export -f ctf -o limited t.trace 2>err)
  [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'cannot write limited: ' err || fail "without room: $(cat err)"
  rm -f out err
  [ "$(echo *)" = "file full t.trace" ] && [ "$(cat file full/*)" = $'kept\nkept' ] || fail "failures leave $(ls -R)"
  mkdir empty
  succeeds export -f ctf -o empty/ t.trace
  (umask 027; "$winnow" export -f ctf t.trace >out) || fail "no folder"
  cmp -s empty/stream t-ctf/stream && cmp -s empty/metadata t-ctf/metadata || fail "other files"
  [ "$(stat -c %a empty t-ctf t-ctf/stream | tr '\n' ' ')" = "755 750 640 " ] || fail "permissions: $(stat -c %a empty t-ctf t-ctf/stream)"
  rm -rf t-ctf empty
  # A signal that ends the command leaves nothing.
  rm -f out err
  make many large.trace 300000
  "$winnow" export -f ctf large.trace >/dev/null 2>&1 &
  local pid=$!
  while kill -0 $pid 2>/dev/null && ! ls -d large-ctf.* >/dev/null 2>&1; do :; done
  kill -TERM $pid 2>/dev/null
  wait $pid
  case $? in
    0) [ "$(echo large-ctf*)" = large-ctf ] || fail "beside the folder: $(echo large-ctf*)" ;; # it was faster
    143) [ "$(echo large-ctf*)" = 'large-ctf*' ] || fail "a signal leaves $(echo large-ctf*)" ;;
    *) fail "a signal ends it otherwise" ;;
  esac
}
