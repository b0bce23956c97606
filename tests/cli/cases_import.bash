# Files of other heap profilers: DHAT, pprof. Their totals are those of the report; sourced by run.
# shellcheck shell=bash disable=SC2154

# allocates frees nothing: less of it is enough.
run_dhat() { # FILE PROGRAM...
  local file=$1
  shift
  need valgrind
  valgrind --tool=dhat --dhat-out-file="$file" "$@" >said 2>&1 || skip "valgrind cannot run $1: $(tail -n 1 said)"
  [ -s "$file" ] || skip "valgrind wrote no $file"
}

# No number of such a report has a range, and it says nothing of what the file does not tell.
says_no_more() {
  if grep -Eq '95 % range|samples  |med. life|growth +[a-z]|Long-lived|ran for|a second|≈|sampled' out; then
    fail "the report says what the file does not tell: $(cat out)"
  fi
}

same_sum() { # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: $2 in the file, $3 in the report"
}

files_of_dhat_have_their_totals() {
  need jq
  run_dhat t.dhat "$build/tests/cli/programs/allocates" wrapped
  succeeds report --json --top 10000 --by stack t.dhat
  local pair
  for pair in tb:allocated_bytes tbk:allocated_blocks gb:peak_bytes gbk:peak_blocks eb:live_at_end_bytes ebk:live_at_end_blocks; do
    same_sum "$pair" "$(jq "[.pps[].${pair%:*}] | add" t.dhat)" "$(jq ".totals.${pair#*:}.estimate" out)"
  done
  same_sum "rows" "$(jq '[.pps[].tb] | add' t.dhat)" "$(jq '[.allocated[].self_bytes.estimate] | add' out)"
  jq -e '[.. | objects | select(has("low")) | .low == .high] | all' out >/dev/null || fail "a range"
  jq -e 'has("held") or has("churn") or has("lasting") or (.trace | has("duration_ns")) | not' out >/dev/null ||
    fail "it tells more than the file: $(jq -c 'keys, .trace' out)"
  succeeds report --all t.dhat
  says_no_more
  says 'profile by DHAT: totals of each stack, all of them exact'
  says 'order  allocates[.]c:[0-9]+ +< main'
  says 'Of a function with a source line it does not tell the module\.'
  succeeds report --all --where 'module = allocates' t.dhat
  fact Allocated '0 B'
  succeeds report --tree t.dhat
  says_no_more
  succeeds info t.dhat
  says 'written by +DHAT'
  refused 2 'at 1us: t.dhat tells only what was held at the peak and the end' report --at 1us t.dhat
  refused 2 "'life': such a file does not tell" report --where 'life > 1s' t.dhat
  refused 2 't.dhat has no events of single blocks' dump t.dhat
  refused 2 'needs to know what became of each block; these formats do not: folded, speedscope$' export -f csv t.dhat
  succeeds export -f folded t.dhat
  same_sum "folded" "$(jq '[.pps[].gb] | add' t.dhat)" "$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' out)"
}

# A function of DHAT is that of a trace of the same program with every block.
dhat_is_compared_with_a_trace() {
  need jq
  need_recording
  need_many_blocks
  run_dhat t.dhat "$build/tests/cli/programs/allocates" wrapped
  "$winnow" record -q --rate 1 -o t -- "$build/tests/cli/programs/allocates" wrapped >said 2>&1 || fail "record: $(cat said)"
  succeeds diff --json t.dhat t
  jq -e '[.allocated.rows[] | select(.name == "order" or .name == "user")] |
         length == 2 and all(.found == "both" and .bytes.difference.estimate == 0)' out >/dev/null ||
    fail "$(jq -c '.allocated.rows[] | [.name, .found, .bytes]' out)"
  succeeds diff --all t.dhat t
  ! grep -q noise out || fail "$(cat out)"
  says 'Before: The file is a profile by DHAT'
  refused 2 'does not tell how long its program ran' diff --per second t.dhat t
  refused 2 'needs to know what became of each block' diff --at peak,end t.dhat
}

# What is exported and read again has the totals that were exported.
profiles_come_back_from_pprof() {
  need jq
  local kind at name
  for kind in plain exact odd; do
    make $kind t
    for at in peak end; do
      succeeds export -f pprof --at $at --no-symbols -o t.pb.gz t
      succeeds report --json --at $at --no-symbols t
      mv out before
      succeeds report --json t.pb.gz
      for name in bytes blocks; do
        jq -es "map(.totals.allocated_$name.estimate | round) | .[0] == .[1]" before out >/dev/null || fail "$kind, allocated $name: $(jq -c .totals before out)"
      done
      jq -es '(.[0].tree.total_bytes.estimate | round) == .[1].totals.live_at_end_bytes.estimate' before out >/dev/null || fail "$kind, held at $at: $(jq -c '.totals' out) $(jq -c '.tree.total_bytes' before)"
    done
    succeeds report --all t.pb.gz
    [ $kind = odd ] || says_no_more # which has names with such signs
    says 'a heap profile for pprof, written by Winnow: totals of each stack, '
    says 'held at one moment, which may be the peak, and nothing of other moments'
  done
  refused 2 'at peak: t.pb.gz tells only what was held at its own moment \(--at end\)' report --at peak t.pb.gz
  make plain t
  succeeds diff --json t t.pb.gz
  jq -e '.at == "end" and (has("churn") or has("lasting") or has("brief_ns") | not) and
         ([.sites.rows[].sure, .allocated.rows[].sure] | any | not)' out >/dev/null || fail "$(jq -c 'map_values(type), .at' out)"
  succeeds diff --all t t.pb.gz
  says "NOT KNOWN +the numbers are another profiler's estimates"
  run diff --all --fail-if 'allocated > +1K' t t.pb.gz
  [ $code = 1 ] && grep -q 'estimates without ranges are compared' err || fail "code $code: $(cat err)"
}

# A program in Go writes its heap, of every block and of a sample; `go tool pprof` tells its sums.
profiles_of_go_have_their_totals() {
  need go
  need jq
  local rate kind
  export HOME=$work GOCACHE=$work/cache GOFLAGS=-mod=mod
  cat >main.go <<'GO'
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
)

var kept [][]byte

//go:noinline
func obtain(n int) []byte { return make([]byte, n) }

func main() {
	runtime.MemProfileRate, _ = strconv.Atoi(os.Args[1])
	for i := 0; i < 20000; i++ {
		b := obtain(1000 + i%7)
		if i%2 == 0 {
			kept = append(kept, b)
		}
	}
	runtime.GC()
	pprof.Lookup("allocs").WriteTo(os.Stdout, 0)
	runtime.KeepAlive(kept)
}
GO
  go build -o prog main.go >said 2>&1 || skip "go builds nothing: $(tail -n 1 said)"
  for rate in 1 65536; do
    ./prog $rate >t.pb.gz || fail "the program failed"
    succeeds report --json t.pb.gz
    for kind in alloc_space:allocated_bytes alloc_objects:allocated_blocks inuse_space:live_at_end_bytes inuse_objects:live_at_end_blocks; do
      go tool pprof -sample_index="${kind%:*}" -raw t.pb.gz 2>/dev/null |
        awk -v type="${kind%:*}/" '/^Samples:/ { getline; for (i = 1; i <= NF; i++) if (index($i, type) == 1) column = i; on = 1; next }
             /^Locations/ { on = 0 }
             on && /^ *-?[0-9]+ .*:/ { sub(/:.*/, ""); sum += $column } END { printf "%.0f\n", sum }' >sum
      same_sum "$rate: $kind" "$(cat sum)" "$(jq ".totals.${kind#*:}.estimate" out)"
    done
    jq -e '[.allocated[] | select(.name == "main.obtain") | .self_bytes.estimate > 15e6] == [true]' out >/dev/null ||
      fail "$(jq -c '.allocated[] | [.name, .self_bytes]' out)"
    succeeds report --all t.pb.gz
    says_no_more
    [ $rate = 1 ] && says 'all of them exact'
    [ $rate = 1 ] || says 'estimates without ranges, from one sample every 65536 bytes on average'
  done
}

# heaptrack, which records every call as Winnow does at rate 1, and its own printer.
files_of_heaptrack_have_their_totals() {
  need heaptrack
  need heaptrack_print
  need jq
  local file
  heaptrack -o t "$build/tests/cli/programs/allocates" wrapped >said 2>&1 || skip "heaptrack cannot run it: $(tail -n 1 said)"
  file=$(ls t.zst t.gz 2>/dev/null | head -n 1)
  [ -n "$file" ] || skip "heaptrack wrote no file: $(tail -n 1 said)"
  succeeds report --json --top 1000 "$file"
  heaptrack_print -f "$file" -p 0 -a 0 -T 0 -l 0 >printed 2>/dev/null || fail "heaptrack_print"
  same_sum calls "$(sed -nE 's/^calls to allocation functions: ([0-9]+).*/\1/p' printed)" "$(jq .totals.allocated_blocks.estimate out)"
  # It prints three digits behind the point: 20.20M.
  local name member
  for name in 'peak heap memory consumption:peak_bytes' 'total memory leaked:live_at_end_bytes'; do
    member=${name#*:}
    same_sum "${name%:*}" "$(sed -nE "s/^${name%:*}: ([0-9.]+).*/\1/p" printed)" \
      "$(jq ".totals.$member.estimate" out | awk '{ unit = $1 < 1e3 ? 1 : $1 < 1e6 ? 1e3 : $1 < 1e9 ? 1e6 : 1e9; printf "%.2f\n", $1 / unit }')"
  done
  jq -e '[.. | objects | select(has("low")) | .low == .high] | all' out >/dev/null || fail "a range"
  jq -e 'has("churn") or has("lasting") or (.totals | has("brief_bytes")) or (.alive[0] | has("growth")) | not' out >/dev/null ||
    fail "it tells of lives: $(jq -c 'keys' out)"
  succeeds info "$file"
  ! grep -Eq '^(process|began) |1970| 0 threads' out || fail "info tells what the file does not: $(cat out)"
  grep -Eq '^code .* stack frames in [0-9]+ modules$' out || fail "info has no line of code: $(cat out)"
  succeeds report --all "$file"
  ! grep -Eq '95 % range|med. life|growth +[a-z]|Long-lived|lived less|≈' out || fail "it tells of lives: $(cat out)"
  says 'The file was written by heaptrack'
  says 'order  allocates[.]c:[0-9]+ +< main'
  refused 2 "'thread': such a file does not tell" report --where 'thread = 1' "$file"
  refused 2 "'life': such a file does not tell" report --where 'life > 1s' "$file"
  refused 2 'and dhat needs to know that; these formats do not: pprof, folded, speedscope, firefox, csv, json$' export -f dhat "$file"
  succeeds export -f csv "$file"
}

heaptrack_is_compared_with_a_trace() {
  need heaptrack
  need jq
  need_recording
  need_many_blocks
  local file
  heaptrack -o t "$build/tests/cli/programs/allocates" wrapped >said 2>&1 || skip "heaptrack cannot run it: $(tail -n 1 said)"
  file=$(ls t.zst t.gz 2>/dev/null | head -n 1)
  "$winnow" record -q --rate 1 -o w -- "$build/tests/cli/programs/allocates" wrapped >said 2>&1 || fail "record: $(cat said)"
  succeeds diff --json "$file" w
  jq -e '[.allocated.rows[] | select(.name == "order" or .name == "user")] |
         length == 2 and all(.found == "both" and .bytes.difference.estimate == 0)' out >/dev/null ||
    fail "$(jq -c '.allocated.rows[] | [.name, .found, .bytes]' out)"
}

# The report says where to begin. The page has what such a file tells; no text in it breaks out.
other_profilers_files_have_pages() {
  printf '{"dhatFileVersion":2,"mode":"heap","bklt":true,"tu":"instrs","cmd":"./a</pre><b>","pps":[{"tb":800,"tbk":8,"gb":700,"gbk":7,"eb":0,"ebk":0,"fs":[1]}],
    "ftbl":["[root]","0x1: a<script>&b (x.c:1)"]}' >t.dhat
  succeeds report t.dhat
  says 'Next: to use less memory, begin at x[.]c:1 '
  succeeds html t.dhat
  says '^t.dhat.html '
  grep -q 'a&lt;script&gt;&amp;b' t.dhat.html || fail "$(cat t.dhat.html)"
  grep -qE '<script>&b|</pre><b' t.dhat.html && fail "$(cat t.dhat.html)"
  make plain t
  succeeds export -f pprof -o t.pb.gz t
  succeeds html -o d.html t.pb.gz t
  grep -q 'HELD AT THE END' d.html || fail "$(cat d.html)"
  refused 2 'tells only what was held at its own moment' html -o e.html --at peak t.pb.gz
  [ ! -e e.html ] || fail "a page was left"
}

# Names of C++ are those of a trace, however a tool writes templates and inlined methods.
functions_of_cxx_are_those_of_a_trace() {
  need g++
  need jq
  need_recording
  need_many_blocks
  cat >p.cc <<'CC'
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} std::string name; };
template <class T> struct Pool {
  std::vector<std::unique_ptr<T>> all;
  __attribute__((noinline)) T *make(const char *name) {
    all.emplace_back(new T);
    all.back()->name = std::string(name) + std::string(60, 'x');
    return all.back().get();
  }
};
__attribute__((noinline)) int fill(std::map<int, std::string> &map, int count) {
  for (int i = 0; i < count; i++) map[i] = std::string(40 + (unsigned)i % 5, 'y');
  return (int)map.size();
}
static __attribute__((noinline)) std::string *grow(int i) {
  auto add = [=](int n) { return new std::string(n + 100, 'z'); };
  return add(i);
}
int main() {
  Pool<Shape> pool;
  std::map<int, std::string> map;
  std::vector<std::unique_ptr<std::string>> more;
  for (int i = 0; i < 3000; i++) pool.make("shape");
  for (int i = 0; i < 1000; i++) more.emplace_back(grow(i));
  return fill(map, 2000) == 0;
}
CC
  g++ -O1 -g -o p p.cc || fail "g++"
  "$winnow" record -q --rate 1 -o w -- ./p >said 2>&1 || fail "record: $(cat said)"
  local file compared=
  valgrind --tool=dhat --dhat-out-file=t.dhat ./p >said 2>&1
  heaptrack -o t ./p >said 2>&1
  for file in t.dhat t.zst t.gz; do
    [ -s $file ] || continue
    succeeds diff --json $file w
    jq -e '[.allocated.rows[] | select(.name | test("^(fill|Pool<Shape>::make)\\(|operator\\(\\)"))] |
           length == 3 and all(.found == "both" and .bytes.difference.estimate == 0)' out >/dev/null ||
      fail "$file: $(jq -c '.allocated.rows[] | [.name, .found, .bytes.difference.estimate]' out)"
    compared=1
  done
  [ $compared ] || skip "there is neither valgrind nor heaptrack"
}

# A small file that describes much: a million blocks in a few kilobytes, and texts in a compressed profile. A sanitizer's own memory
# would be bounded, too.
memory_for_reading_is_bounded() {
  need_recording
  { printf 'v 10400 2\ns p\ns f\ni 1 1 2 1 3\nt 1 0\na 8 1\n' && yes '+ 0' | head -n 1000000; } | gzip -9 >bomb
  [ "$(stat -c %s bomb)" -lt 20000 ] || fail "the file is too large to be a bomb"
  local command too_large='bomb: not enough memory to read it in 16 MB; --max-memory BYTES allows more'
  for command in report html 'export -f csv' info; do
    # shellcheck disable=SC2086
    refused 1 "$too_large" $command --max-memory 16M bomb
  done
  refused 1 "$too_large" diff --max-memory 16M bomb bomb
  succeeds report --all --max-memory 1G bomb
  says '1000000 blocks|8.00 MB'
  # A definition takes memory while a file is opened: of all formats by the same bound.
  { printf 'v 10400 2\n' && seq -f 's a_text_of_some_length_%.0f' 400000; } | gzip -9 >texts
  for command in info dump view; do
    refused 1 'texts: not enough memory to read it in 16 MB; --max-memory BYTES allows more' "$command" --max-memory 16M texts
  done
  local value
  for value in abc '' 15M -1 1e30; do
    refused 2 "--max-memory ('')?$value: it must be a size of 16M or more" report --max-memory "$value" bomb
  done
  refused 2 "--max-memory 1: it must be" info --max-memory 1 bomb
  refused 2 "--max-memory 1: it must be" dump --max-memory 1 bomb
}
