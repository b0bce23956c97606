# Whether a reader of the report is led to what is so; sourced by run.
# shellcheck shell=bash disable=SC2154

record_allocates() { # WHAT SEED
  need_recording
  "$winnow" record -q --seed "$2" -o t -- "$build/tests/cli/programs/allocates" "$1" >said 2>&1 || fail "record: $(cat said)"
}

# The first row of the first table.
first_row() { sed -n '/^Held/,/^$/p' out | LC_ALL=C grep -aE '^ +(≈)?[0-9.]+ [kMG]?B ' | head -n 1; }

# Whatever else the sample has: libc's buffers, the loader.
allocating_functions_have_rows_at_every_seed() {
  local seed by
  for seed in 1 2 3 4 5; do
    for by in function line; do
      record_allocates loop $seed
      succeeds report --all --by $by t
      first_row | LC_ALL=C grep -aq ' obtain' || fail "loop, seed $seed, by $by: $(cat out)"
      record_allocates main $seed
      succeeds report --all --by $by t
      first_row | LC_ALL=C grep -aq ' main' || fail "main, seed $seed, by $by: $(cat out)"
      record_allocates tree $seed
      succeeds report --all --by $by t
      first_row | LC_ALL=C grep -aq ' insert.*' || fail "tree, seed $seed, by $by: $(cat out)"
    done
  done
  succeeds report --all t
  says ' insert  allocates[.]c:[0-9]+( \+[0-9]+)? +< itself < '
}

# Text and JSON, in every grouping and order, with few rows and with many.
reports_account_for_all_bytes() {
  need jq
  local kind by sort top
  for kind in plain bare; do
    make $kind t
    for by in function line file module stack; do
      for sort in self total blocks samples; do
        for top in 3 1000; do
          "$winnow" report --json --no-symbols --by $by --sort $sort --top $top t >"$kind by $by sort $sort top $top" 2>err || fail "$(cat err)"
        done
      done
    done
  done
  [ "$(jq -n '[inputs | .tree.total_bytes.estimate] | length' ./*\ top\ *)" = 80 ] || fail "not 80 reports"
  jq -r 'def all($table): (([.[$table][].self_bytes.estimate] | add // 0) + .[$table + "_rest"].self_bytes.estimate);
         def is($total): . - $total | fabs < 1;
         select(((.tree.total_bytes.estimate as $total | all("sites") | is($total)) and
                 (.totals.allocated_bytes.estimate as $total | all("allocated") | is($total)) and
                 (.totals.brief_bytes.estimate as $total | all("churn") | is($total)) and
                 (.totals.live_at_end_bytes.estimate as $total | all("alive") | is($total))) | not) | input_filename' ./*\ top\ * >wrong || fail "no sums"
  [ ! -s wrong ] || fail "the rows do not add up: $(cat wrong)"
  make exact t
  for by in function line file module stack; do
    COLUMNS=160 "$winnow" report --all --no-symbols --by $by --top 7 t | sed -n '/^Held.*the peak/,/^$/p' | awk -v unit="B kB MB" '
      function bytes(n, u) { return n * (u == "B" ? 1 : u == "kB" ? 1000 : 1000000) }
      /^Held/ { for (i = 1; i < NF; i++) if ($i ~ /^[0-9.]+$/ && $(i + 1) ~ /^[kM]?B$/) total = bytes($i, $(i + 1)) }
      /^ +[0-9.]+ [kM]?B / { sum += bytes($1, $2) }
      END { if (sum < 0.98 * total || sum > 1.02 * total) { print sum, total; exit 1 } }' || fail "the text by $by does not add up"
  done
}

wrappers_of_malloc_are_passed_over() {
  need jq
  record_allocates wrapped 1
  succeeds report --all t
  first_row | LC_ALL=C grep -aq ' order .*< main' || fail "$(cat out)"
  says 'user  allocates[.]c:[0-9]+ +< main'
  says 'Passed over, since they only allocate for their callers: xmalloc \(--show-wrappers'
  succeeds report --all --show-wrappers t
  first_row | LC_ALL=C grep -aq ' xmalloc' || fail "$(cat out)"
  says 'xmalloc  allocates[.]c:[0-9]+ +< one of: order [0-9.]+–[0-9.]+ %, user [0-9.]+–[0-9.]+ %'
  ! grep -q 'Passed over' out || fail "$(cat out)"
  succeeds report --all --wrapper order t
  first_row | LC_ALL=C grep -aq ' main' || fail "$(cat out)"
  succeeds report --json --sort self t
  jq -e '.wrappers == ["xmalloc"] and .sites[0].name == "order" and .sort == "self"' out >/dev/null || fail "$(jq .wrappers out)"
  refused 2 '--wrapper nonsense: no sampled stack has a function of that name' report --wrapper nonsense t
  refused 2 '--sort x: it must be self, total, blocks or samples' report --sort x t
}

# By totals, what is on every stack and allocates nothing goes to a line of its own.
inclusive_totals_are_one_option_away() {
  record_allocates wrapped 2
  succeeds report --all --sort total t
  first_row | LC_ALL=C grep -aq ' order' || fail "$(cat out)"
  says ' user  allocates[.]c:[0-9]+'
  says 'On every stack, allocating nothing themselves: _start > __libc_start_main'
}

# What calls main tells nothing, and the first lines of a tree are read first.
trees_begin_at_main() {
  local by
  for by in function line; do
    record_allocates wrapped 2
    succeeds report --tree --by $by t
    ! grep -Eq '(^|[^_])_start|__libc_start' out || fail "by $by: $(cat out)"
    sed -n '/^Call tree/,/^$/p' out | sed -n 3p | grep -Eq ' main( |$)' || fail "by $by, the first line: $(cat out)"
  done
}

# The files tell static functions apart. A function of a header is one, whichever path leads to it.
functions_of_one_name_have_rows_of_their_own() {
  need_many_blocks
  need_recording
  "$winnow" record -q --rate 1 -o t -- "$build/tests/cli/programs/namesakes" || fail "no trace"
  succeeds report t
  says ' 1[.]00 MB .* grow  namesakes[.]c:[0-9]+ '
  says ' 500 kB .* grow  namesakes_other[.]c:[0-9]+ '
  says ' 2[.]00 MB .* keep  namesakes[.]h:[0-9]+ '
  succeeds report --tree t
  says ' 500 kB .* grow [(]namesakes_other[.]c[)]'
  succeeds report --by line t
  says ' 500 kB .* grow [(]namesakes_other[.]c:[0-9]+[)]'
  succeeds report --where 'fn = "grow (namesakes.c)"' t
  says 'Held at the peak +1[.]00 MB '
  succeeds report --where 'fn = grow' t
  says 'Held at the peak +1[.]50 MB '
}

# The largest of the function's rows by line, for functions, stacks and differences, as in the text.
rows_of_functions_have_their_file_and_line_in_json_and_csv() {
  need_recording
  need_many_blocks
  need jq
  local line file
  line=$(grep -n 'calloc(1, 700)' "$source/tests/cli/programs/allocates.c" | cut -d : -f 1)
  "$winnow" record -q --rate 1 -o t -- "$build/tests/cli/programs/allocates" lines || fail "no trace"
  succeeds report t
  says " two_lines  allocates[.]c:$line [+]1 line"
  succeeds report --json t
  jq -e --argjson line "$line" '[.sites, .allocated, .alive | .[] | select(.name == "two_lines")
    | .line == $line and (.file | endswith("/programs/allocates.c"))] | length == 3 and all' out >/dev/null || fail "$(jq .sites out)"
  jq -e '.sites[] | select(.name == "main") | .line == 0 and (.file | endswith("/programs/allocates.c"))' out >/dev/null || fail "$(jq .sites out)"
  succeeds report --json --by stack t
  jq -e --argjson line "$line" '.sites[] | select(.name == "two_lines") | .line == $line' out >/dev/null || fail "$(jq .sites out)"
  succeeds export -f csv t
  grep -Eq "^\"two_lines\",\"allocates\",\"[^\"]*/programs/allocates[.]c\",$line," out || fail "$(head -n 3 out)"
  succeeds diff --json --at 0s,end t
  jq -e --argjson line "$line" '.sites.rows[] | select(.name == "two_lines") | .line == $line and (.file | endswith("/allocates.c"))' out >/dev/null || fail "$(jq .sites.rows out)"
  "$winnow" record -q --rate 1 -o t -- "$build/tests/cli/programs/namesakes" || fail "no trace"
  succeeds report --json --top 100 t
  for file in namesakes namesakes_other; do
    line=$(grep -n 'char [*]grow(' "$source/tests/cli/programs/$file.c" | cut -d : -f 1)
    jq -e --arg name "grow ($file.c)" --argjson line "$line" '.sites[] | select(.name == $name) | .line == $line' out >/dev/null || fail "$(jq .sites out)"
  done
}

# And not the functions of C of the interpreter and of extension modules. Functions of one name are told apart by their files.
functions_lines_and_files_of_python_are_shown() {
  make python t
  succeeds report t
  says ' remember  cache[.]py:12'
  says ' < run __main__[.]py:31 < <module> __main__[.]py:40 < main'
  says ' run  worker[.]py:7'
  ! grep -Eq 'alloc_cache|array_new' out || fail "$(cat out)"
  says " Python's C functions and library are counted for the lines that call them [(]--show-wrappers[)]"
  ! grep -Eq '[[]python]|Py[A-Z_]|list_resize' out || fail "$(cat out)"
  succeeds report --by line --sort total t
  says ' run [(]__main__[.]py:31[)]'
  succeeds report --sort total t
  says ' run  __main__[.]py'
  ! grep -q '[[]python]' out || fail "$(cat out)"
  succeeds report --show-wrappers t
  says ' list_resize'
  says ' alloc_cache  alloc[.]c:5'
}

rows_of_wide_ranges_look_uncertain() {
  make one t
  succeeds report --all --no-symbols t
  first_row | LC_ALL=C grep -aq '^ *≈' || fail "$(cat out)"
  make exact t
  succeeds report --all --no-symbols t
  ! grep -q '≈' out || fail "an exact number looks uncertain"
}

# All that is not a name is ASCII where the locale says so, and columns stay columns.
the_locale_decides_about_signs() {
  need jq
  make plain t
  local locale
  for locale in C POSIX; do
    LC_ALL=$locale "$winnow" report --all --no-symbols t >ascii 2>err || fail "$(cat err)"
    ! LC_ALL=C grep -q $'[\x80-\xff]' ascii || fail "$locale: $(LC_ALL=C grep -a $'[\x80-\xff]' ascii)"
    LC_ALL=$locale "$winnow" report --no-symbols t >screen 2>err || fail "$(cat err)"
    grep -q ' ~ 95 % range, [?] too few samples$' screen && grep -Eq 'Held at the peak .* MB  ~ [0-9]+ %' screen || fail "$locale: $(cat screen)"
    LC_ALL=$locale "$winnow" info t >info 2>err || fail "$(cat err)"
    ! LC_ALL=C grep -q $'[\x80-\xff]' info || fail "$locale: info"
  done
  succeeds report --all --no-symbols t
  LC_ALL=C grep -q $'[\x80-\xff]' out || fail "no signs in a locale of UTF-8"
  [ "$(wc -l <out)" = "$(wc -l <ascii)" ] || fail "other lines: $(diff out ascii)"
  grep -q 'held .*[.]\+[:]*-*=*+*[*]*#*@' ascii || fail "no bars: $(cat ascii)"
  grep -q '[0-9]-[0-9].* MB' ascii || fail "no ranges: $(cat ascii)"
  LC_ALL=C "$winnow" report --no-symbols --json t | jq -e '[.sites[].module] | any(contains("\ufffd"))' >/dev/null || fail "JSON is not UTF-8"
  LC_ALL=C "$winnow" report --all --no-symbols t 2>err >/dev/full
  [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "a full disk is not noticed: $(cat err)"
}

# On a terminal, unless NO_COLOR is set.
colours_are_for_terminals() {
  need script
  make one t
  succeeds report --all --no-symbols t
  ! grep -q $'\033' out || fail "colours in a file"
  TERM=xterm script -qec "$winnow report --all --no-symbols t" typescript >/dev/null </dev/null
  grep -aq $'\033\\[1mHeld' typescript || fail "no bold title on a terminal"
  grep -aq $'\033\\[2m.*≈' typescript || fail "an uncertain row is not dim"
  TERM=xterm NO_COLOR=1 script -qec "$winnow report --all --no-symbols t" typescript >/dev/null </dev/null
  ! grep -aq $'\033' typescript || fail "colours in spite of NO_COLOR"
  TERM=dumb script -qec "$winnow report --all --no-symbols t" typescript >/dev/null </dev/null
  ! grep -aq $'\033' typescript || fail "colours on a dumb terminal"
}

the_width_is_used_up_to_160_columns() {
  make plain t
  local columns widest
  for columns in 100 130 160 300; do
    COLUMNS=$columns "$winnow" report --all --no-symbols t >out
    widest=$(LC_ALL=C.UTF-8 wc -L <out)
    [ "$widest" -le "$columns" ] && [ "$widest" -le 160 ] || fail "$widest columns of $columns"
    [ "$columns" -lt 160 ] || [ "$widest" -gt 150 ] || fail "only $widest columns of $columns are used"
  done
}

traces_come_from_standard_input() {
  make plain t
  succeeds report --all --no-symbols t
  cp out from_file
  "$winnow" report --all --no-symbols - <t >out || fail "a file as standard input"
  cmp -s out from_file || fail "another report of a file as standard input"
  cat t | "$winnow" report --all --no-symbols - >out || fail "a pipe"
  cmp -s out from_file || fail "another report of a pipe"
  cat t | "$winnow" info - | grep -q 'sampled  *1,000 blocks' || fail "info of a pipe"
  cat t | "$winnow" report --all --no-symbols /dev/stdin >out || fail "a pipe by its name"
  cmp -s out from_file || fail "another report of a pipe by its name"
  succeeds info <(cat t)
  says 'sampled  *1,000 blocks'
  head -c 1000 /bin/sh | "$winnow" report --all - >out 2>err
  [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'standard input' err && ! grep -q /proc err || fail "$(cat err)"
  "$winnow" report --all - </dev/null >out 2>err
  [ $? = 1 ] && grep -q 'standard input' err || fail "$(cat err)"
}

several_traces_come_from_pipes() {
  need gzip
  make plain few 10
  make exact many 2000
  gzip few
  "$winnow" info many <(gzip -dc few.gz) - < <(head -c 100000 /bin/sh) >out 2>err
  [ $? = 1 ] && [ "$(cat err)" = "winnow: 1 of 3 files cannot be read as traces" ] || fail "$(cat err out)"
  says ' 2,000  many .* 10  /dev/fd/[0-9]+ .* standard input is not a Winnow trace'
  ! grep -q /proc out || fail "$(cat out)"
  gzip -dc few.gz | "$winnow" info - many >out 2>err || fail "$(cat err)"
  says ' 2,000  many .* 10  standard input .* all 2'
  ! grep -q 'still being written' out || fail "$(cat out)"
}

several_traces_have_an_array() {
  need jq
  make plain few 10
  make plain many 100
  succeeds info --json few many
  [ "$(jq -c 'map([.file, .samples])' out)" = '[["few",10],["many",100]]' ] || fail "$(cat out)"
  succeeds info --json few
  [ "$(jq -r .file out)" = few ] || fail "$(cat out)"
  run info --json few nowhere
  [ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ "$(jq length out)" = 1 ] || fail "code $code: $(cat err out)"
}

# The blocks of the peak are those of the end: one table has them, with how they grew.
what_is_held_at_the_end_tells_how_it_grew() {
  need jq
  "$build/tests/page/make_planted" malloc t || fail "no trace"
  succeeds report --all --at end t
  [ "$(grep -c 'share  samples     trend  allocated by' out)" = 1 ] || fail "$(cat out)"
  sed '/^Allocated over/,$d' out | grep -Eq 'grows +leaks' || fail "$(cat out)"
  says 'Held at the end: .*the same blocks as above'
  succeeds report --all t # of which the leaks have grown since
  sed '/^Allocated over/,$d' out | grep -Eq 'grows +leaks' || fail "$(cat out)"
}

# The resident size is measured once, after half of the first millisecond of three.
what_was_not_measured_is_not_drawn() {
  make plain t
  succeeds report --all t
  says 'each row by its own scale; ·: not measured'
  grep -Eq '^  resident {5}·{7}███·{40}  12\.0 MB after 500 us$' out || fail "$(grep resident out)"
}

leaks_are_told_where_the_program_frees_all_as_it_exits() {
  need jq
  "$build/tests/page/make_planted" exits t || fail "no trace"
  succeeds report --all t
  fact 'Held at the end' '< [0-9.]+ [kM]?B'
  says 'Alive after 99\.[0-9] s, before the program freed [0-9.]+ MB as it ended: '
  says 'Growing steadily: leaks by [0-9.]+ kB \([0-9.]+–[0-9.]+ kB\) a second\. '
  succeeds report --json t
  jq -e '.totals.alive_at_ns < .trace.duration_ns and .totals.live_at_end_bytes.samples == 0 and .totals.alive_bytes.samples > 100 and
         ([.alive[] | select(.growth == "steady") | .name] == ["leaks"])' out >/dev/null || fail "$(jq -c '.totals, .alive' out)"
  succeeds diff --all --at 50s,end t
  ! grep -q 'leaks.*new' out || fail "$(cat out)"
}

# A buffer that realloc grows all the time, beside a cache, a log that is filled and emptied, and an index that doubles.
a_buffer_that_grows_steadily_is_told_from_caches() {
  need_recording
  need jq
  record_by_steps --rate 0.001 -o t -- "$build/tests/cli/programs/appends" || fail "$(cat said)"
  succeeds report --all t
  says 'Growing steadily: appends_history by [0-9.]+ [MG]B \([0-9.]+–[0-9.]+ [MG]B\) a second\. '
  [[ "$(tr '\n' ' ' <out)" =~ Growths\ by\ realloc[^0-9]*([0-9]+) ]] || fail "no growths: $(cat out)"
  succeeds report --json t
  jq -e ".trace.growths == ${BASH_REMATCH[1]}" out >/dev/null || fail "growths: $(jq .trace.growths out)"
  jq -e '[.alive[] | select(.self_bytes.samples > 0) | {(.name): .growth}] | add |
         .appends_history == "steady" and .writes_log == "uneven" and .doubles_index == "uneven" and .fills_cache == "once"' \
    out >/dev/null || fail "$(jq -c '.alive[] | [.name, .growth, .growth_per_second, .alive_by_age]' out)"
  jq -e '.alive[] | select(.name == "writes_log") | (.alive_by_age | min) < 0 and
         ((.alive_by_age | add) / .self_bytes.estimate - 1 | fabs) < 1e-9' out >/dev/null || fail "$(jq -c '.alive[]' out)"
}

# The cache is five times as large as the leak.
leaks_are_told_from_caches() {
  need jq
  "$build/tests/page/make_planted" malloc t || fail "no trace"
  succeeds report --all t
  says ' at once +caches'
  says 'grows +leaks'
  says 'Growing steadily: leaks by [0-9.]+ kB \([0-9.]+–[0-9.]+ kB\) a second\. '
  succeeds report --all --where 'fn != leaks' t
  ! grep -q 'Growing steadily' out || fail "$(cat out)"
  succeeds report --json t
  jq -e '[.alive[] | select(.growth == "steady") | .name] == ["leaks"]' out >/dev/null || fail "$(jq '.alive' out)"
  jq -e '.alive[] | select(.name == "caches") | .growth == "once" and (.alive_by_age | length) == 16 and
         ((.alive_by_age | add) / .self_bytes.estimate - 1 | fabs) < 1e-9' out >/dev/null || fail "$(jq '.alive[0]' out)"
  local member
  for member in $(jq -r '[.alive[0] | keys[]] | unique | .[]' out); do
    grep -q "\b$member\b" "$source/docs/report-json.md" || fail "docs/report-json.md does not know $member"
  done
}

a_report_of_a_part_of_the_samples_says_so() {
  need_recording
  need_many_blocks
  # shellcheck disable=SC2016
  "$winnow" record -r 1 -o t.trace -- perl -e 'push @kept, "order $_" for 1 .. 20000' 2>said || fail "not recorded: $(cat said)"
  succeeds report --all --samples all t.trace
  says '^perl .* every block recorded'
  succeeds report --all --samples 4000 t.trace
  fact 'Part of the samples that was read' '1[0-9] %'
  fact Allocated '[0-9.]+ MB +[0-9.]+–[0-9.]+ MB'
  ! grep -q 'every block recorded' out || fail "a part is called the whole: $(cat out)"
  run diff --all --samples 4000 t.trace t.trace
  [ "$code" = 0 ] || fail "diff: $(cat err)"
  refused 2 'must be all, or a number' report --samples 999 t.trace
}

# Two functions of one file whose parts have equal names in DWARF.
local_classes_are_named_by_their_functions() {
  need g++
  need jq
  need_recording
  cat >p.cc <<'CC'
#include <cstdlib>
void *kept[8];
namespace zoo {
template <class F> __attribute__((noinline)) static void apply(F f) { f(); }
static __attribute__((noinline)) void one() { apply([] { kept[0] = std::malloc(1000); }); }
__attribute__((noinline)) void other(int n) {
  apply([=] { kept[n] = std::malloc(2000); });
  struct Local {
    __attribute__((noinline)) void fill(int k) { kept[k] = std::malloc(4000); }
  } local;
  local.fill(n + 1);
}
}
int main() {
  zoo::one();
  zoo::other(1);
  return !kept[2];
}
CC
  local compiler tried=
  for compiler in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2'; do
    command -v "${compiler% *}" >/dev/null || continue
    $compiler -g -o p p.cc || fail "$compiler"
    "$winnow" record -q --rate 1 -o w -- ./p >said 2>&1 || fail "record: $(cat said)"
    succeeds export -f json --at end w
    jq -r '.rows[] | "\(.self_bytes.estimate) \(.name)"' out >names
    grep -qE '^1000 zoo::one([(][)])?::([{]lambda|[$]_).*::operator[(][)]' names &&
      grep -qE '^2000 zoo::other[(]int[)]::([{]lambda|[$]_).*::operator[(][)]' names &&
      grep -qE '^4000 zoo::other[(]int[)]::Local::fill' names || fail "$compiler: $(cat names)"
    tried=1
  done
  [ $tried ] || fail "no compiler"
}

# GCC calls the body of a lambda artificial, as it does functions of headers that debuggers pass over.
bodies_of_lambdas_have_frames() {
  need g++
  need_recording
  cat >p.cc <<'CC'
#include <cstdlib>
template <class F> __attribute__((noinline)) void apply(F f) { f(); }
void *kept;
int main() {
  apply([] { for (int i = 1; i < 100; i++) kept = std::realloc(kept, 1000 * i); });
  apply([] { for (int i = 1; i < 100; i++) kept = std::realloc(kept, 100000 + i); });
  return !kept;
}
CC
  g++ -O1 -g -o p p.cc || fail "g++"
  "$winnow" record -q --rate 1 -o w -- ./p >said 2>&1 || fail "record: $(cat said)"
  succeeds report --all --by line w
  says 'main::[{]lambda#1[}]::operator[(][)].* [(]p.cc:5[)]'
  says 'main::[{]lambda#2[}]::operator[(][)].* [(]p.cc:6[)]'
}

threads_have_rows() {
  need jq
  make exact t
  succeeds report --json --by thread --top 1000 t
  cp out by.json
  [ "$(jq -r '.sites[].name' by.json | sort | paste -sd,)" = 'main (thread 1),thread 2,thread 3' ] || fail "threads: $(jq -c '[.sites[].name]' by.json)"
  # A row has what the query for its thread selects, and the rows are all there is.
  local name
  while read -r name; do
    succeeds report --json --where "thread = \"$name\"" t
    [ "$(jq .totals.allocated_bytes.estimate out)" = "$(jq --arg name "$name" '.allocated[] | select(.name == $name) | .self_bytes.estimate' by.json)" ] ||
      fail "$name has not what the query selects"
  done < <(jq -r '.sites[].name' by.json)
  [ "$(jq '[.allocated[].self_bytes.estimate] | add' by.json)" = "$(jq .totals.allocated_bytes.estimate by.json)" ] || fail "the rows are not the total"
  succeeds report --by thread --tree t
  says 'Threads by what they held.* main \(thread 1\)'
  local format
  for format in folded csv json speedscope; do
    succeeds export -f $format --by thread t
    grep -q 'main (thread 1)' out || fail "$format has no threads"
  done
  make killed other
  succeeds diff --all --by thread t other
  says 'main \(thread 1\)'
  printf 'v 10400 2\ns p\ns f\ni 1 1 2 1 3\nt 1 0\na 8 1\n+ 0\n' >heaptrack
  for name in report 'export -f csv' 'diff t'; do
    # shellcheck disable=SC2086
    refused 2 '--by thread: heaptrack does not tell which threads allocated' ${name%% *} --by thread ${name#"${name%% *}"} heaptrack
  done
  printf 'view=table\nby=thread\n\n' | "$build/tests/page/page_ask" t >answer
  grep -aq 'main (thread 1)' answer || fail "the page has no threads: $(cat answer)"
}

# A program in the example Lisp, whose trace has a record of the type of each block.
types_have_rows() {
  local lisp=$build/examples/lisp/lisp
  [ -x "$lisp" ] || skip "there is no lisp"
  need jq
  cat >types.lisp <<'PROGRAM'
(define kept '())
(define (keep n)
  (if (> n 0)
      (begin
        (set! kept (cons (make-vector 20 (list n (* n 1.5) (lambda (x) (+ x n)) (string-append "a" "b"))) kept))
        (keep (- n 1)))))
(keep 2000)
(snapshot "now.heap")
PROGRAM
  WINNOW_TRACE=t WINNOW_RATE=1 "$lisp" types.lisp || fail "lisp"
  succeeds report --json --by type --at end --top 1000 t
  cp out by.json
  # The program keeps 2000 of each, and the snapshot has what lives under the same names.
  succeeds heap --json now.heap
  local name blocks
  for name in vector float closure string pair table symbol macro builtin; do
    blocks=$(jq --arg name "$name" '.types[] | select(.name == $name) | .blocks' out)
    jq -e --arg name "$name" --argjson blocks "${blocks:-0}" '.sites[] | select(.name == $name) | .self_blocks.estimate - $blocks | . >= 0 and . <= 20' by.json >/dev/null ||
      fail "$name: $blocks in the snapshot, $(jq -c --arg name "$name" '[.sites[] | select(.name == $name) | .self_blocks.estimate]' by.json) in the profile"
  done
  jq -e '.sites[] | select(.name == "float") | .self_blocks.estimate >= 2000 and .self_bytes.estimate == .self_blocks.estimate * 8' by.json >/dev/null || fail "floats: $(jq -c .sites by.json)"
  jq -e '[.sites[].name] | index("lisp body") and index("weak block") and (index("(type not recorded)") | not)' by.json >/dev/null || fail "types: $(jq -c '[.sites[].name]' by.json)"
  # A row has what the query for its type selects, and the rows are all there is.
  while read -r name; do
    succeeds report --json --where "type = \"$name\"" t
    [ "$(jq .totals.allocated_bytes.estimate out)" = "$(jq --arg name "$name" '.allocated[] | select(.name == $name) | .self_bytes.estimate' by.json)" ] ||
      fail "$name has not what the query selects"
  done < <(jq -r '.allocated[].name' by.json)
  [ "$(jq '[.allocated[].self_bytes.estimate] | add' by.json)" = "$(jq .totals.allocated_bytes.estimate by.json)" ] || fail "the rows are not the total"
  succeeds report --by type t
  says 'blocks +trend +type.* float'
  succeeds report --by type --tree t
  says 'Types by what their blocks held.* samples +type.* closure'
  local format
  for format in folded csv json speedscope; do
    succeeds export -f $format --by type t
    grep -q closure out || fail "$format has no types"
  done
  WINNOW_TRACE=other WINNOW_RATE=0.05 WINNOW_SEED=2 "$lisp" types.lisp || fail "lisp"
  succeeds diff --all --by type t other
  says 'types within noise, the largest: .* (vector|string|pair|float|closure|variable) '
  printf 'view=table\nby=type\n\n' | "$build/tests/page/page_ask" t >answer
  grep -aq closure answer || fail "the page has no types: $(cat answer)"
  make exact malloc
  for name in report 'export -f csv' 'diff t' 'html -o page.html'; do
    # shellcheck disable=SC2086
    refused 2 '--by type: malloc does not tell of which types its blocks are' ${name%% *} --by type ${name#"${name%% *}"} malloc
  done
  refused 2 "'type': such a file does not tell this of its blocks" report --where 'type = string' malloc
}

functions_too_short_to_do_more_are_passed_over() {
  need_recording
  need_many_blocks
  need jq
  need gcc
  cat >p.c <<'C'
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
void *volatile kept[1000];
APART void *make_copy(const void *from, size_t size) {
  void *copy = malloc(size);
  return copy ? memcpy(copy, from, size) : NULL;
}
APART void *parse_record(const char *from, size_t size) {
  size_t fields[32] = {0};
  for (size_t i = 0; i < size; i++) fields[(unsigned char)from[i] % 32] += i * (unsigned char)from[i];
  for (size_t i = 1; i < 32; i++) fields[i] += fields[i - 1] ^ (fields[0] << (i % 7));
  char *record = malloc(size + fields[31] % 8);
  if (record) memcpy(record, fields, size < sizeof fields ? size : sizeof fields);
  return record;
}
#define READER(n) \
  APART void read_##n(int i) { \
    static char text[999]; \
    kept[i] = make_copy(text, (size_t)(100 + 7 * i % 300)); \
    kept[i] = parse_record(text, (size_t)(100 + 5 * i % 300)); \
  }
READER(0) READER(1) READER(2) READER(3) READER(4) READER(5) READER(6) READER(7)
int main(void) {
  void (*const readers[])(int) = {read_0, read_1, read_2, read_3, read_4, read_5, read_6, read_7};
  for (int i = 0; i < 800; i++) readers[i % 8](i);
}
C
  gcc -O1 -fcf-protection=none -fno-stack-protector -o p p.c || fail "gcc"
  "$winnow" record -q --rate 1 -o t -- ./p >said 2>&1 || fail "$(cat said)"
  succeeds report --json t
  jq -e '(.wrappers | index("make_copy")) and (.wrappers | index("parse_record") | not)' out >/dev/null || fail "$(jq -c .wrappers out)"
}
