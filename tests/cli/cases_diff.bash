# winnow diff; sourced by run.
# shellcheck shell=bash disable=SC2154

compares_with_itself() { # ARGUMENT...
  run "$@"
  [ "$code" = 0 ] && [ "$(cat err)" = "winnow: t and t are the same recording, which is compared with itself" ] ||
    fail "winnow $*: code $code: $(head -c 400 err)"
}

# A second trace with other numbers: the same program at another seed, or with a tenth of its samples.
differences_have_ranges_and_noise_is_last() {
  need_many_blocks
  need_recording
  record_allocates loop 1 && mv t before
  record_allocates tree 2 && mv t after
  export COLUMNS
  for COLUMNS in 80 120; do
    succeeds diff --all before after
    says 'before: allocates, [0-9.]+ m?s +after: allocates, '
    fact 'Sampled blocks' '[0-9,]+ +[0-9,]+ +[-+]?[0-9,]+'
    says 'HELD AT THE PEAK +before 95 % range .* samples.* [-+][0-9.]+ [kMG]?B .* in all'
    says 'ALLOCATED OVER THE RUN '
    awk '/^[A-Z ]*$/ { noise = 0 } / within noise, the largest:$/ { noise = 1 }
         / (none|[0-9.]+ [kM]?B) .* [-+][0-9.]+ [kMG]?B .* [0-9,]+( |$)/ && /^ / && !/%/ { if ($0 !~ /[-+][0-9.]+ to [-+][0-9.]+ /) bad = $0; if (!noise) sure++ }
         END { if (bad) print bad; exit bad != "" || sure < 2 }' out || fail "$(cat out)"
  done
}

# At a higher rate the recorder takes more memory. That is said, and is no regression of the program.
the_memory_of_the_recorder_is_no_regression() {
  need_many_blocks
  need_recording
  local rate
  for rate in 1e-4 1e-2; do
    "$winnow" record -q --seed 1 --rate $rate -o t$rate -- "$build/tests/cli/programs/leaks" || fail "no trace"
  done
  succeeds diff t1e-4 t1e-2
  says "Resident at most .* Winnow's own .* [+][0-9.]+ [kM]B .* Held at the peak"
  says ' NO CHANGE BEYOND NOISE '
  mv t1e-2 other
  "$winnow" record -q --seed 2 --rate 1e-4 -o t -- "$build/tests/cli/programs/leaks" || fail "no trace"
  succeeds diff t1e-4 t
  ! grep -q "Winnow's own" out || fail "at one rate: $(cat out)"
}

what_was_left_has_the_name_of_the_report() {
  make plain t
  compares_with_itself diff --all t t
  says 'Held at the end +[0-9.]+ MB +[0-9.]+ MB .* HELD AT THE END '
  make collected t
  compares_with_itself diff --all t t
  says 'Not found dead +[0-9.]+ MB +[0-9.]+ MB .* NOT FOUND DEAD '
}

a_trace_does_not_differ_from_itself() {
  need jq
  make plain t
  compares_with_itself diff --all t t
  says 'HELD AT THE PEAK .* 0 B -[0-9]+ to [+][0-9]+ kB .* in all, within noise +[0-9]+ functions within noise, the largest: '
  [ "$(grep -c ' functions within noise' out)" = 3 ] && ! grep -q ' changed (' out || fail "something is sure: $(cat out)"
  compares_with_itself diff --json --top 1000 t t
  jq -e '[.. | objects | select(has("difference")) | .difference.estimate] | (length > 10) and (map(fabs) | add < 1)' out >/dev/null ||
    fail "$(head -c 1000 out)"
}

# Where every block was recorded there is no chance, and where records are missing nothing is known.
differences_speak_of_chance_only_where_there_is_some() {
  make exact t
  compares_with_itself diff t t
  says '  NO CHANGE$|  NO CHANGE  ' && ! grep -Eq 'chance|noise' out || fail "chance: $(cat out)"
  compares_with_itself diff --all t t
  says 'HELD AT THE PEAK +before +after +change +samples +allocated by .* 0 B +[0-9,]+ +in all, unchanged'
  grep -q '^  [0-9]* functions unchanged, the largest:$' out || fail "$(cat out)"
  ! grep -Eq 'chance|noise' out || fail "chance: $(cat out)"
  make plain t
  printf 'damage' | dd of=t bs=1 seek=$(($(stat -c %s t) / 2)) conv=notrunc 2>/dev/null
  compares_with_itself diff --all t t
  says 'NOT KNOWN +a part of a run is missing in its trace'
  grep -q '^  [0-9]* functions changed or not, the largest:$' out || fail "$(cat out)"
  ! grep -Eq 'chance|noise|nchanged' out || fail "more than is known: $(cat out)"
}

new_and_vanished_code_is_marked() {
  need_recording
  record_allocates loop 1 && mv t before
  record_allocates tree 2 && mv t after
  succeeds diff --all --at end before after
  succeeds diff --all before after
  says ' insert \(new\)'
  says ' obtain \(gone\)'
}

limits_set_the_exit_code() {
  need_many_blocks
  make plain t
  compares_with_itself diff --fail-if 'held > +1K' t t
  make many whole 20000
  head -c $(($(stat -c %s whole) / 2)) whole >cut
  run diff --all --fail-if 'held > +1K' whole cut
  [ "$code" = 1 ] && grep -q 'not known whether a limit is passed' err || fail "a cut trace: code $code: $(cat err)"
  need_recording
  record_allocates loop 1 && mv t before
  record_allocates tree 2 && mv t after
  succeeds diff --all --fail-if 'allocated > +900%' before after
  run diff --all --where 'fn = insert' --fail-if 'allocated > +1K' before after
  [ "$code" = 1 ] && grep -q "^winnow: allocated > +1K: it changed by +[0-9.]* .*B (.* to .*)\$" err || fail "code $code: $(cat err)"
  grep -q '^HELD AT THE PEAK' out || fail "no report beside the limit: $(cat out)"
}

two_moments_of_one_trace_are_compared() {
  make plain t
  succeeds diff --all --at 100us,400us t
  says 'from 100 us to 400 us'
  says 'HELD AT ONE OF THE TWO MOMENTS +freed 95 % range +new 95 % range +change '
  ! grep -Eq '[+-][0-9]+ %' out || fail "a percentage of what was freed: $(cat out)"
  ! grep -qi '^Allocated' out || fail "allocated of one run"
  ! grep -q 'resized' out || fail "no block was resized: $(cat out)"
  succeeds diff --all --at peak,end t
  compares_with_itself diff --at 100us,400us t t
  says 'Held then +[0-9.]+ [kM]?B +[0-9.]+ [kM]?B'
}

# A block that was resized between is held at both.
resized_blocks_are_told_of_two_moments() {
  need jq
  make exact_shrunk t
  COLUMNS=120 succeeds diff --all --at 100005ns,100015ns t
  says 'A block that was resized in between counts on both sides'
  succeeds diff --json --at 100005ns,100015ns t
  jq -e '.resized and .moments' out >/dev/null || fail "$(head -c 600 out)"
}

runs_are_scaled_before_they_are_compared() {
  need jq
  make plain t
  make killed u
  succeeds diff --all --per second t u
  says 'multiplied by [0-9.]+, as if both runs had taken as long'
  succeeds diff --per allocation --json t u
  jq -e '.scale.estimate > 0 and (.allocated.bytes | (.difference.estimate | fabs) < 0.01 * .after.estimate)' out >/dev/null ||
    fail "$(head -c 600 out)"
}

# What is held is an amount at a moment; the runs do not have more of it if they take longer.
levels_are_not_scaled() {
  need jq
  make plain t
  make many u 20000
  local per
  for per in second allocation; do
    succeeds diff --json t u
    cp out plain.json
    succeeds diff --json --per $per t u
    jq -e --slurpfile plain plain.json '($plain[0]) as $one | .scale.estimate as $scale |
      def scaled(path): (path.before.estimate / ($one | path.before.estimate) / $scale - 1 | fabs) < 1e-6;
      def kept(path): path.before == ($one | path.before);
      $scale > 2 and scaled(.allocated.bytes) and scaled(.allocated.blocks) and scaled(.churn.bytes) and
      scaled(.facts.totals.allocated_bytes) and scaled(.facts.totals.allocated_blocks) and scaled(.facts.totals.brief_bytes) and
      kept(.sites.bytes) and kept(.sites.blocks) and kept(.alive.bytes) and kept(.lasting.bytes) and
      kept(.facts.totals.peak_bytes) and kept(.facts.totals.live_at_end_bytes) and kept(.facts.totals.peak_rss_bytes) and
      kept(.facts.totals.brief_share) and kept(.facts.totals.allocated_bytes_per_second) and kept(.facts.resident.rss_bytes)' out >/dev/null ||
      fail "per $per: $(jq -c '.scale, .facts.totals, .sites.bytes, .churn.bytes' out)"
  done
  "$build/tests/page/make_planted" collected t 1 || fail "no trace"
  make exact_collected u
  succeeds diff --json t u
  cp out plain.json
  succeeds diff --json --per second t u
  jq -e --slurpfile plain plain.json '.scale.estimate as $scale | ($scale - 1 | fabs) > 0.1 and
    (.promoted.bytes.before.estimate / $plain[0].promoted.bytes.before.estimate / $scale - 1 | fabs) < 1e-6' out >/dev/null ||
    fail "promoted: $(jq -c '.scale, .promoted.bytes' out)"
}

wrong_comparisons_are_refused() {
  make plain t
  refused 2 'which traces' diff
  refused 2 'one trace needs two moments' diff t
  refused 2 'two traces at a time' diff t t t
  refused 2 'it must be function, line, file, module, process, host, release, thread or type' diff --by stack t t
  refused 2 'it must be self or total' diff --sort blocks t t
  refused 2 'it must be second, allocation, run or host' diff --per hour t t
  refused 2 'two moments of one' diff --per second --at 1us,2us t
  refused 2 "fail-if 'held': expected > or <" diff --fail-if held t t
  refused 2 'it must be peak, end, or a time' diff --at 1s,later t
  refused 2 'is after the end' diff --at 1us,10s t
  refused 2 'the first moment is after the second' diff --at 2us,1us t
  refused 2 'two moments are compared by what is held' diff --at 1us,2us --fail-if 'allocated > +1K' t
  refused 2 'for two moments it must be bytes' diff --at 1us,2us --fail-if 'held > +5%' t
  refused 2 'is after the end of t' diff --at 10s t t
  refused 2 '[-][-]where: query, column 4' diff --where 'fn is x' t t
  refused 1 'absent: ' diff t absent
  echo "no trace" >wrong
  refused 1 'wrong' diff wrong t
}

comparisons_have_their_json() {
  need jq
  make plain t
  make killed u
  succeeds diff --json --where 'size > 100' --by line t u
  jq -r 'def members: to_entries | map(.key + ":" + (.value | type)) | sort | join(" ");
         members, (.sites | members), (.sites.rows[0] | members), (.sites.bytes | members)' out >members
  diff - members <<'END' || fail "members changed; docs/report-json.md describes them"
after:object alive:object allocated:object at:string before:object brief_ns:number by:string churn:object facts:object lasting:object long_ns:number moments:boolean of:string promoted:object schema:number sites:object verdict:object where:string
blocks:object bytes:object note:string rows:array rows_count:number sure:boolean sure_count:number
address:boolean blocks:object bytes:object fate:string file:string found:string line:number module:string name:string sure:boolean
after:object before:object difference:object
END
}

differences_fit_narrow_terminals() {
  make named named
  make plain plain
  make killed killed
  make none none
  export COLUMNS
  local kind by
  for COLUMNS in 80 100 160; do
    for kind in plain killed named none; do
      for by in function line file module; do
        run diff --all --by $by named $kind
        [ "$code" = 0 ] || fail "$kind by $by: code $code: $(cat err)"
        fits "$COLUMNS" "$kind by $by"
      done
    done
  done
}

collected_heaps_are_compared() {
  need jq
  local seed
  for seed in 1 2; do "$build/tests/page/make_planted" collected t$seed $seed || fail "no trace"; done
  make exact_collected u
  succeeds diff --all t1 t2
  fact 'Born in the minor heap' '1.26 GB +1.26 GB +0 B'
  fact Promoted '240 MB +240 MB +0 B'
  fact 'Minor collections' '999 +999 +0'
  fact Pauses '999 +999 +0'
  fact 'Longest, .*' '8.30 ms +8.30 ms +0 s'
  says 'PROMOTED +before .* 2[67][0-9] MB [^ ]* +2[67][0-9] MB .* in all'
  succeeds diff --json t1 t2
  jq -e '.facts.heap.promoted_words.before.estimate == 29970000 and .facts.pauses.longest_ns.after.estimate == 8300000 and
         .promoted.bytes.before.samples > 1000 and .verdict.kind == "no_change"' out >/dev/null || fail "$(jq '.facts.heap, .verdict' out)"
  succeeds diff --all t1 u # of which the heap's counts end before the trace
  ! grep -qi 'own count' out || fail "$(cat out)"
  make plain v
  succeeds diff --all t1 v
  ! grep -qi 'own counts' out || fail "$(cat out)"
  succeeds diff --json t1 v
  jq -e '.facts | has("heap") | not' out >/dev/null || fail "$(jq .heap out)"
}

# Of two builds of a stripped program an address is other code, though it may be the same number.
rows_without_names_are_not_matched_between_builds() {
  need jq
  make build_1 t
  make build_2 u
  succeeds diff --all t u
  says '\+0x[0-9a-f]+ .*\(gone or moved\)'
  says '\+0x[0-9a-f]+ .*\(new or moved\)'
  says 'do not have the same build of libprog.so and prog, so code without a name there is not +matched'
  succeeds diff --json t u
  jq -e '[.allocated.rows[]] | all(.found != "both" and .address) and all(.fate == if .found == "before" then "gone or moved" else "new or moved" end)' out >/dev/null ||
    fail "addresses of two builds are matched: $(head -c 2000 out)"
  jq -e '.allocated.note | test("same build")' out >/dev/null || fail "no note"
  cp t copy
  run diff --json t copy
  jq -e '[.allocated.rows[]] | length > 3 and all(.found == "both" and .address and .fate == "")' out >/dev/null ||
    fail "addresses of one build are not matched: $(head -c 2000 out)"
  jq -e '[.. | objects | select(has("note")) | .note] | all(. == "")' out >/dev/null || fail "a note: $(jq .allocated.note out)"
  make plain v
  make killed w
  succeeds diff --all v w
  says 'There is no +build-id in .*: code +without a name +there is matched +as if +they had'
}

# A name is new for certain only if the other run had names there.
names_are_not_new_where_the_other_build_had_none() {
  need jq
  make plain t
  "$build/tests/page/make_planted" malloc v || fail "no trace"
  succeeds diff --json t v
  jq -e '[.allocated.rows[] | select(.found == "before") | .address] | all and length > 3' out >/dev/null || fail "addresses are not told"
  jq -e '[.allocated.rows[] | select(.found == "after")] | all(.address == false and .fate == "new")' out >/dev/null || fail "names are told as addresses"
}

# Two builds of one program, which differ by a function before the others; stripped, and recorded under one path.
two_stripped_builds_are_compared() {
  need_recording
  need_many_blocks
  need jq
  need cc
  need strip
  cat >p.c <<'END'
#include <stdlib.h>
#ifdef NEW
__attribute__((noinline)) void *extra(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
#endif
__attribute__((noinline)) void *cache(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
int main(void) {
  for (int i = 0; i < 20000; i++) {
    cache(200);
#ifdef NEW
    extra(500);
#endif
  }
}
END
  local kind
  mkdir old new bin
  cc -O1 -Wl,--build-id -o old/prog p.c && cc -O1 -DNEW -Wl,--build-id -o new/prog p.c || fail "not compiled"
  cp -r new named
  strip old/prog new/prog
  for kind in old new; do
    cp $kind/prog bin/prog
    "$winnow" record --rate 0.01 -o $kind.trace -- bin/prog 2>err || fail "$(cat err)"
  done
  "$winnow" record --rate 0.01 -o again.trace -- bin/prog 2>err || fail "$(cat err)"
  succeeds diff --all --search old --search new old.trace new.trace
  says 'prog\+0x[0-9a-f]+ \(gone or moved\)'
  says 'prog\+0x[0-9a-f]+ \(new or moved\)'
  says 'do not have the same build of prog, so code without a name there'
  ! grep -Eq '^ *[-+].*prog\+0x[0-9a-f]+$' out || fail "an address is in both: $(cat out)"
  says 'REGRESSION +Held at the peak [+][0-9.]+ [kM]B; look for names with --search FOLDER: ' # code that may have moved is no culprit
  succeeds diff --json old.trace new.trace
  jq -e '.verdict | .kind == "regression" and .rows == []' out >/dev/null || fail "the verdict names an address: $(jq .verdict out)"
  printf 'view=totals\n\n' | "$build/tests/page/page_ask" new.trace old.trace >totals
  grep -ao '"compared": .*' totals | grep -q '"next": "look for names with --search FOLDER' || fail "the next step: $(grep -ao '"next": "[^"]*"' totals)"
  succeeds diff --all new.trace again.trace
  says 'prog\+0x[0-9a-f]+ '
  ! tr '\n' ' ' <out | grep -Eq 'moved|same build' || fail "one build is taken for two: $(cat out)"
  for kind in old new again; do mv $kind.trace $kind; done 2>/dev/null
  cp named/prog bin/prog
  "$winnow" record --rate 0.01 -o named.trace -- bin/prog 2>err || fail "$(cat err)"
  succeeds diff --all old/old.trace named.trace
  says ' extra \(new or moved\)'
  says 'REGRESSION +Held at the peak [+][0-9.]+ [kM]B; look for names with --search FOLDER: ' # its growth may be of code that had no name
  says ' prog\+0x[0-9a-f]+ \(gone or moved\)'
}

# One build, recorded from a file with names and from one without.
one_build_with_and_without_names_is_compared() {
  need_recording
  need jq
  need cc
  need strip
  cat >p.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *cache(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
int main(void) { for (int i = 0; i < 20000; i++) cache(200); }
END
  mkdir named stripped
  cc -g -O1 -Wl,--build-id -o named/prog p.c && strip -o stripped/prog named/prog || fail "not compiled"
  local kind
  for kind in named stripped; do
    "$winnow" record --rate 0.01 -o $kind.trace -- $kind/prog 2>err || fail "$(cat err)"
  done
  succeeds diff --all named.trace stripped.trace
  says ' cache \(gone or moved\)'
  says 'prog\+0x[0-9a-f]+ \(new or moved\)'
  says 'In one of the runs code of prog has no names, so it is not matched with the names'
  ! tr '\n' ' ' <out | grep -q 'same build' || fail "one build is taken for two: $(cat out)"
  succeeds diff --json stripped.trace named.trace
  jq -e '[.allocated.rows[].fate] | sort == ["gone or moved", "new or moved"]' out >/dev/null || fail "$(jq '.allocated.rows' out)"
  jq -e '.allocated.note | test("code of prog has no names")' out >/dev/null || fail "no note"
  succeeds diff --all --search named named.trace stripped.trace
  says ' cache( |$)'
  ! tr '\n' ' ' <out | grep -Eq 'moved|no names' || fail "the file with names is not found: $(cat out)"
}

programs_of_different_names_may_be_builds_of_one() {
  need_recording
  need cc
  need strip
  cat >p.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *cache(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
int main(void) { for (int i = 0; i < 20000; i++) cache(200 + NEW); }
END
  local kind
  for kind in 0 1; do
    cc -O1 -DNEW=$kind -Wl,--build-id -s -o prog$kind.out p.c || fail "not compiled"
    "$winnow" record --rate 0.01 -o $kind.trace -- ./prog$kind.out 2>err || fail "$(cat err)"
  done
  succeeds diff --all 0.trace 1.trace
  says 'prog0.out\+0x[0-9a-f]+ \(gone or moved\)'
  says 'prog1.out\+0x[0-9a-f]+ \(new or moved\)'
  says 'The programs have two names \(prog0.out and prog1.out\), and code without a name there'
}

one_recording_compared_with_itself_is_named() {
  make plain t
  make exact u
  ln t hard
  ln -s t soft
  cp t copy
  mkdir folder
  local other
  for other in t ./t "$PWD/t" folder/../t hard soft copy; do
    run diff --all t "$other"
    [ "$code" = 0 ] && [ "$(cat err)" = "winnow: t and $other are the same recording, which is compared with itself" ] ||
      fail "diff t $other: code $code: $(cat err)"
    says 'HELD AT THE PEAK .* 0 B .* in all'
  done
  run html -o page.html t copy
  [ "$code" = 0 ] && grep -q 'are the same recording' err && [ -s page.html ] || fail "html: code $code: $(cat err)"
  succeeds diff --all t u
  succeeds html -o page.html t u
}

lives_of_two_runs_have_one_limit() {
  need jq
  make plain t
  make many u 20000
  succeeds diff --json t u
  cp out there
  succeeds diff --json u t
  succeeds report --json t
  jq -e --slurpfile there there '.totals.brief_ns == $there[0].brief_ns' out >/dev/null || fail "not the limit of the shorter run: $(jq .brief_ns there)"
}
