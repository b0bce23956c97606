# Calls of CPython's functions on callstacks, with each CPython that there is.

pythons() { # the interpreter of the system, and those of WINNOW_PYTHONS
  local name
  for name in ${WINNOW_PYTHONS-} /usr/bin/python3; do
    "$name" -c 'import sys; assert sys.version_info >= (3, 9); print(sys.executable)' 2>/dev/null
  done
}

# The calls on the stacks of sampled blocks as calls.py writes them: SIZE NAME@FILE:LINE...
calls_of_trace() {
  "$winnow" dump trace 2>/dev/null | sed -nE 's/^.* sample stack=[0-9]+ block=[0-9]+ size=([0-9]+) [^:]*: (.*)$/\1 \2/p' |
    awk '{ line = $1; for (i = 2; i <= NF; i++) if ($i ~ /@/) line = line " " $i; print line }'
}

# Each Python runs a program that writes down lines, all of which must be among those that READER makes of the trace.
same_as_python() { # PROGRAM WRITTEN LEAST READER RECORD-OPTION...
  local program=$here/programs/$1 written=$2 least=$3 reader=$4 python pythons
  shift 4
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  pythons=$(pythons)
  [ "$pythons" ] || skip "there is no Python of 3.9 or later"
  for python in $pythons; do
    rm -rf trace "$written"
    ends_well "$winnow" record -q -o trace "$@" -- "$python" "$program"
    $reader "$program" | sort >found
    sort "$written" >expected
    [ "$(wc -l <expected)" -ge "$least" ] || fail "$python: $(wc -l <expected) lines"
    comm -23 expected found >missing
    [ -s missing ] && fail "$python: $(wc -l <missing) of $(wc -l <expected) lines differ: $(head -c 1000 missing)"
  done
  true
}

calls_of_python_are_those_that_it_tells() { same_as_python calls.py calls 500 calls_of_trace --rate 1e-3 --stack-depth 1024; }
objects_of_python_are_those_that_tracemalloc_knows() { same_as_python objects.py lines 9 live_by_line --rate 1; }

# The library is the one below the folder of the interpreter: `json` is, and `shop` is not.
modules_in_a_folder_named_like_the_library_have_their_lines() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local python folder
  for python in $(pythons); do
    folder=$PWD/app/lib/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    mkdir -p "$folder/shop"
    printf '%s\n' 'import json' 'def load(n): return [json.loads("[%d]" % i) for i in range(n)]' 'kept = load(100000)' >"$folder/shop/stock.py"
    echo 'import shop.stock' >start.py
    PYTHONPATH=$folder ends_well "$winnow" record -q -o trace --rate 1e-2 --seed 1 -- "$python" start.py
    "$winnow" report trace >report
    grep -Eq '^ +[0-9.]+ MB .* stock\.py:2$' report || fail "$python: $(cat report)"
    grep -q 'decoder\.py' report && fail "$python: a row of the library: $(cat report)"
  done
  true
}

# Debian's interpreter has no names of inlined functions, which would stand between the loop and the calls that it runs.
each_activation_of_pythons_loop_has_its_calls() {
  [ "$tiny" = 0 ] || skip "stacks get lost in tiny tables"
  local python=/usr/bin/python3
  $python -c 'import sys; assert sys.version_info >= (3, 9)' 2>/dev/null || skip "there is no $python of 3.9 or later"
  ends_well "$winnow" record -q -o trace --rate 1e-2 -- $python "$here/programs/calls.py"
  "$winnow" export -f folded --by line -q allocated-blocks --show-wrappers -o stacks trace 2>/dev/null
  awk '{ sub(/ [0-9]+$/, ""); n = split($0, frame, ";")
         for (i = 1; i < n; i++) if (frame[i] ~ /^_PyEval_EvalFrameDefault/) {
           loops++; if (frame[i + 1] !~ /:[0-9]+\)$/) { print; empty++ }
         } }
       END { exit !(loops > 1000 && !empty) }' stacks >wrong || fail "$(head -n 3 wrong)"
}

# A handler may interrupt the interpreter where its chain of calls is half written.
python_calls_are_not_read_in_signal_handlers() {
  local python
  for python in $(pythons); do
    rm -rf trace
    ends_well "$winnow" record -q -o trace --rate 1e-1 -- "$python" "$here/programs/alarms.py" "$programs/libalarms.so"
    "$winnow" dump trace 2>/dev/null >events
    grep ' map .*=80740352:' events >maps
    [ -s maps ] || fail "$python: no mapping of a handler"
    grep '@' maps && fail "$python: calls in a handler"
    [ "$tiny" != 0 ] || grep -q 'work@' events || fail "$python: no calls at all"
  done
}

children_of_python_have_calls() {
  [ "$tiny" = 0 ] || skip "stacks get lost in tiny tables"
  local python each found=0
  python=$(pythons | head -n 1)
  [ "$python" ] || skip "there is no Python of 3.9 or later"
  ends_well "$winnow" record -q -f -o folder --rate 1e-1 -- "$python" -c '
import multiprocessing, os
def in_child(n):
    return len([bytearray(100003) for _ in range(50)])
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(in_child, range(4)) == [50] * 4'
  for each in folder/*; do
    "$winnow" dump "$each" 2>/dev/null | grep -q 'in_child@<string>:4' && found=1
  done
  [ $found = 1 ] || fail "no calls in a child"
}

recorded_python_programs_do_as_without() {
  local python
  for python in $(pythons); do
    for rate in 1 1e-3; do same_as_bare $rate "$python" "$here/programs/calls.py"; done
  done
}

# What is alive at the end of a trace, by the line of the innermost call in a file: LINE BYTES COUNT.
live_by_line() { # FILE
  "$winnow" dump trace 2>/dev/null | awk -v file="@$1:" '
    function field(name, found) { match($0, " " name "=[0-9]+"); return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) }
    $3 == "sample" && field("source") == 4 { block = field("block"); size[block] = field("size"); line[block] = ""
                     for (i = NF; i > 3 && line[block] == ""; i--) if ($i ~ /@/) line[block] = $i }
    $3 == "resize" && field("block") in size { size[field("block")] = field("size") }
    $3 == "free" { delete size[field("block")] }
    END { for (block in size) if ((at = index(line[block], file))) { n = substr(line[block], at + length(file)); bytes[n] += size[block]; count[n]++ }
          for (n in bytes) print n, bytes[n], count[n] }'
}

# Of all blocks of 1000 bytes and more that a function held at the end: those of objects, and native ones.
held_in() { # FUNCTION
  figure '.totals | "\(.held_python_bytes.estimate | round) \(.held_native_bytes.estimate | round)"' trace --at end --where "fn = $1 and size >= 1000"
}

objects_of_python_are_told_from_native_blocks() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  need jq
  local python function objects native found
  [ "$(pythons)" ] || skip "there is no Python of 3.9 or later"
  for python in $(pythons); do
    "$python" -c 'import ctypes, zlib' 2>ignored || continue
    ends_well "$winnow" record -q -o trace --rate 1 -- "$python" "$here/programs/native.py"
    while read -r function objects native; do
      [ "$(held_in "$function")" = "$objects $native" ] || fail "$python: $function held $(held_in "$function"), not $objects $native"
    done <held
    found=$(held_in hold_squeezed)
    [ "${found% *}" = 0 ] && [ "${found#* }" -gt 250000 ] || fail "$python: a compressor is of $found"
    "$winnow" report --at end trace >report
    grep -Eq "^  Python's objects +[0-9.]+ MB +of that; native code holds 7[.][0-9]+ MB " report || fail "$(cat report)"
    # Each of those that malloc samples now and then, as well.
    ends_well "$winnow" record -q -o trace --rate 1e-3 -- "$python" -c '
import os
def hold(): return [bytes(1000 + i % 500) for i in range(20000)]
held = hold()
grown = [bytearray(700) for i in range(20000)]
def more():
    for one in grown: one.extend(bytes(500))
more()
os._exit(0)'
    found=$(figure '.totals | "\(.held_python_bytes.samples > 3000) \(.held_native_bytes.samples)"' trace --at end --where '(fn = hold or fn = more) and size >= 1000')
    [ "$found" = "true 0" ] || fail "$python: $found"
  done
  ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/makes_code" SILENT
  [ "$(figure '.totals | has("held_python_bytes")')" = false ] || fail "of a program without Python"
}

objects_of_python_are_in_their_interval() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local python seed truth within=0
  python=$(pythons | head -n 1)
  [ "$python" ] || skip "there is no Python of 3.9 or later"
  grows() { # RATE SEED: lists that grow within the small sizes and beyond
    "$winnow" record -q -o trace --rate "$1" --seed "$2" -- "$python" -c '
import os
def grows(most):
    kept = []
    for i in range(most): kept.append(None)
    return kept
held = [grows(i % 100) for i in range(20000)]
os._exit(0)'
    figure '.totals.live_at_end_bytes | "\(.estimate) \(.low) \(.high)"' trace --at end --where 'fn = grows'
  }
  truth=$(grows 1 1)
  truth=${truth%% *}
  for seed in {1..16}; do
    grows 3e-3 "$seed" | awk -v truth="$truth" '{ exit !($2 <= truth && truth <= $3) }' && within=$((within + 1))
  done
  [ $within -ge 12 ] || fail "$within of 16 intervals hold the truth"
}

# A few blocks more or less depend on the addresses of objects. What begins with a digit is of tracemalloc.
pythons_allocator_counts_as_without() {
  local python rate
  [ "$(pythons)" ] || skip "there is no Python of 3.9 or later"
  for python in $(pythons); do
    run_as bare "$python" "$here/programs/counts.py"
    for rate in 1 1e-2; do
      run_as recorded "$winnow" record -q -o trace --rate $rate -- "$python" "$here/programs/counts.py"
      [ "$(cat bare.code recorded.code)" = $'0\n0' ] || fail "$python: $(cat bare.err recorded.err)"
      paste -d ' ' bare.out recorded.out | awk 'NF % 2 { exit 1 }
        { half = NF / 2; most = /^[0-9]/ ? 0 : 20
          for (i = 1; i <= half; i++) { off = $(i + half) - $i; if (off > most || off < -most || $i != $(i + half) && !off) { print; exit 1 } } }
        END { exit NR < 20 }' >wrong || fail "$python, rate $rate: $(cat wrong)"
    done
  done
}

# Of what the interpreter's allocator does not have, other functions than free would get the sampled blocks.
# Of the small ones; one of no bytes (16 here, with a mark) lies in the heap of malloc, as a large one does.
python_objects_are_not_sampled_where_others_free_them() {
  local python
  [ "$(pythons)" ] || skip "there is no Python of 3.9 or later"
  for python in $(pythons); do
    LD_PRELOAD=$programs/libraw.so same_as_bare 1e-2 "$python" -c 'held = [(i, i) for i in range(100000)]; del held[::2]; print(len(held))'
    "$winnow" dump trace 2>/dev/null | grep ' sample .* source=4 .* grown=0 ' | grep -cE ' size=(1[7-9]|[2-9][0-9]|[1-4][0-9]{2}|50[0-9]|51[0-2]) ' >count
    [ "$(cat count)" -le 1 ] || fail "$python: $(cat count) objects"
  done
}

pythons_allocator_can_be_left_alone() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local python program='held = [(i, i) for i in range(5000)]'
  python=$(pythons | head -n 1)
  [ "$python" ] || skip "there is no Python of 3.9 or later"
  objects() { # [NAME=VALUE...] OPTION...: how many blocks are its objects
    env "$@" -- "$python" -c "$program" || fail "$*"
    figure '.totals.allocated_blocks.estimate' trace --where 'source = python'
  }
  [ "$(objects "$winnow" record -q -o trace --rate 1)" -gt 5000 ] || fail "no objects"
  [ "$(objects "$winnow" record -q -o trace --rate 1 --python-allocator no)" = 0 ] || fail "objects, though not asked for"
  [ "$(objects PYTHONMALLOC=malloc "$winnow" record -q -o trace --rate 1)" -lt 100 ] || fail "objects, though malloc has them"
  [ "$(figure '.totals.allocated_blocks.estimate' trace)" -gt 5000 ] || fail "malloc does not have them"
  for each in debug pymalloc pymalloc_debug malloc_debug; do
    objects PYTHONMALLOC=$each "$winnow" record -q -o trace --rate 1e-2 >answer || fail "$each: $(cat answer)"
    [ "$(cat answer)" = 0 ] || fail "$each: $(cat answer) objects"
    "$winnow" dump trace 2>/dev/null | grep -q ' map .* kind=5 ' && fail "$each: arenas are noted, but no objects"
  done
  objects PYTHONTRACEMALLOC=1 "$winnow" record -q -o trace --rate 1e-2 >answer
  awk '{ exit !($1 > 2500) }' answer || fail "under tracemalloc: $(cat answer) objects"
  "$winnow" dump trace 2>/dev/null | grep -q ' map .* kind=5 ' || fail "under tracemalloc no arenas"
  program='held = [(i, i) for i in range(300000)]'
  objects PYTHONDEVMODE=1 "$winnow" record -q -o trace --rate 1e-3 >answer
  "$winnow" report trace | tr -s ' \n' ' ' >report
  grep -q 'objects lie in it unsampled, because of PYTHONMALLOC, -X dev,' report || fail "$(cat report)"
}

# Freed memory is overwritten at once, so that what is read of it would not be what it was.
threads_may_outlive_pythons_interpreter() {
  local python
  for python in $(pythons); do
    rm -rf trace
    run_as daemons env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=165 \
      "$winnow" record -q -o trace --rate 1e-2 -- "$python" "$here/programs/daemons.py" "$programs/libalarms.so"
    [ "$(cat daemons.code)" = 0 ] || fail "$python: ended with $(cat daemons.code): $(cat daemons.err)"
    opens trace
  done
}

no_function_of_ours_is_on_stacks_of_python() {
  local python
  python=$(pythons | head -n 1)
  [ "$python" ] || skip "there is no Python of 3.9 or later"
  ends_well "$winnow" record -q -o trace --rate 1e-2 -- "$python" -c 'held = [list(range(i % 300)) + [None] for i in range(20000)]
for each in held: each.append(1)'
  "$winnow" dump trace 2>/dev/null | grep -m 1 'libwinnow-malloc' && fail "there is one"
  true
}

# Of each call in a random program, the program has the function and those around it, and the line is in all of them.
calls_are_of_the_random_programs() { # NAMES: NAME FILE FIRST LAST of each function
  local each
  for each in $(traces); do
    "$winnow" export -f folded --by line -q allocated-blocks -o stacks "$each" >/dev/null 2>&1 || fail "no stacks of $each"
    LC_ALL=C grep -Eo '[^;]+ \((random_program|<random_made)_[^;]+:[0-9]+\)' stacks
  done | sort -u >calls_found
  awk 'function has(of, i) { for (i = 1; i <= count[of]; i++) if (first[of, i] <= line && line <= last[of, i]) return 1; return 0 }
       NR == FNR { of = $1 " " $2; n = ++count[of]; first[of, n] = $3; last[of, n] = $4; next }
       { match($0, / \(.*:/); file = substr($0, RSTART + 2, RLENGTH - 3); line = substr($0, RSTART + RLENGTH) + 0
         right = n = split(substr($0, 1, RSTART - 1), name, ".")
         for (; n; n--) right = right && (name[n] == "<locals>" || has(name[n] " " file))
         if (!right) print }' "$1" calls_found >calls_wrong
  [ -s calls_wrong ] && fail "calls that no program has: $(head -n 5 calls_wrong)"
  true
}

# Programs with consecutive seeds, several in each process. How they run follows from the seeds too.
same_random_programs() { # FIRST LAST
  local first=$1 last=$2 pythons python rate count mode follows what
  mapfile -t pythons < <(pythons)
  [ ${#pythons[@]} -gt 0 ] || skip "there is no Python of 3.9 or later"
  for (( ; first <= last; first += count )); do
    RANDOM=$first
    python=${pythons[RANDOM % ${#pythons[@]}]} mode=together follows=''
    case $((RANDOM % 3)) in 0) rate=1 count=8 ;; 1) rate=1e-2 count=25 ;; *) rate=1e-4 count=60 ;; esac
    [ $((RANDOM % 4)) = 0 ] && follows=-f
    [ $((RANDOM % 8)) = 0 ] && mode=forks count=4
    [ $((first + count)) -le $((last + 1)) ] || count=$((last + 1 - first))
    what="$python, $count seeds from $first, $mode"
    rm -rf trace random_program_*.py
    "${pythons[0]}" "$here/programs/random_python.py" "$first" $count $mode >names || fail "no programs: $what"
    seconds=300 PYTHONHASHSEED=$first same_as_bare $rate "$python" all.py
    grep -q 'random_program_.*[0-9]' names && [ -s bare.out ] || fail "nothing ran: $what"
    opens trace
    if [ $rate != 1e-4 ] && [ "$mode$follows" != forks ]; then
      calls_are_of_the_random_programs names
      [ "$tiny" = 1 ] || [ -s calls_found ] || fail "no calls: $what"
    fi
    echo "as without: $what, rate $rate $follows"
  done
}

# One batch has blocks that are all sampled, one some that are, and in one each program is a process.
random_python_programs_do_as_without() { same_random_programs 1 12; same_random_programs 34 36; }
random_python_programs_do_as_without_for_long() { same_random_programs 1001 11000; }

# Also where it maps memory as CPython does, after it was found at the start.
a_version_of_python_that_is_not_known_is_told_once() {
  cat >unknown.c <<'C'
#include <sys/mman.h>
char _PyRuntime[8192];
const unsigned long Py_Version = 0x036300f0;
const char *Py_GetVersion(void) { return "3.99.0 (main)"; }
int run(void) {
  int failed = 0;
  for (int i = 0; i < 3; i++) failed |= mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  return failed;
}
C
  echo 'int run(void); int main(void) { return run(); }' >linked.c
  echo '#include <dlfcn.h>
int main(void) { return ((int (*)(void))dlsym(dlopen("./libunknown.so", RTLD_NOW | RTLD_LOCAL), "run"))(); }' >loads.c
  cc -shared -fPIC -o libunknown.so unknown.c && cc -o linked linked.c ./libunknown.so && cc -o loads loads.c -ldl || fail "not compiled"
  for program in linked loads; do
    ends_well "$winnow" record -q -o trace -- ./$program
    [ "$(cat last.err)" = 'winnow: Python 3.99: this version is not known; its callstacks have C functions only' ] ||
      fail "$program: $(cat last.err)"
  done
}

# The shared libraries of the Pythons, with where their modules are: PATH HOME.
python_libraries() {
  local python
  for python in $(pythons); do
    "$python" -c 'import os, sys, sysconfig
path = os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
if ".so" in path and os.path.exists(path): print(path, sys.base_prefix)'
  done
}

is_named_and_sampled() { # WHAT BLOCKS: those of malloc are exactly so many
  local found
  found=$(figure .totals.allocated_blocks.estimate trace --where 'fn = keep and size = 50022')
  [ "$found" = "$2" ] || fail "$1: $found blocks of malloc"
  found=$(figure .totals.allocated_blocks.estimate trace --where 'fn = keep and source = python')
  awk -v found="$found" -v least="$2" 'BEGIN { exit !(found >= least) }' || fail "$1: $found objects"
}

programs_that_are_linked_with_python_have_calls() {
  local path home
  python_libraries >libraries
  [ -s libraries ] || skip "there is no shared library of Python 3.9 or later"
  cat >linked.c <<'C'
void Py_Initialize(void);
int PyRun_SimpleString(const char *), Py_FinalizeEx(void);
int main(void) {
  Py_Initialize();
  int failed = PyRun_SimpleString("def keep(n):\n    return [bytearray(50021) for _ in range(n)] + [(i, i) for i in range(n)]\n"
                                  "held = keep(500)\n");
  return Py_FinalizeEx() | failed;
}
C
  while read -r path home; do
    cc -w -o linked linked.c "$path" -Wl,-rpath,"${path%/*}" || fail "cannot link $path"
    export PYTHONHOME=$home
    for rate in 1 1e-3; do same_as_bare $rate ./linked; done
    [ "$(cat bare.code)" = 0 ] || fail "$path: $(cat bare.err)"
    [ "$tiny" = 1 ] && continue
    record --rate 1 -- ./linked
    is_named_and_sampled "$path" 500
  done <libraries
}

# Each time it is another interpreter, as far as the process can tell.
programs_that_load_python_have_calls() {
  local path home scope
  python_libraries >libraries
  [ -s libraries ] || skip "there is no shared library of Python 3.9 or later"
  while read -r path home; do
    export PYTHONHOME=$home
    for scope in LOCAL GLOBAL; do
      for rate in 1 1e-3; do same_as_bare $rate "$programs/opens_python" "$path" $scope 3 0; done
      [ "$(cat bare.code)" = 0 ] || fail "$path: $(cat bare.err)"
      [ "$tiny" = 1 ] && continue
      record --rate 1 -- "$programs/opens_python" "$path" $scope 3 0 >/dev/null
      is_named_and_sampled "$path $scope" 1500
    done
  done <libraries
}

python_may_be_unloaded_while_others_allocate() {
  local path home
  python_libraries >libraries
  [ -s libraries ] || skip "there is no shared library of Python 3.9 or later"
  while read -r path home; do
    export PYTHONHOME=$home
    same_as_bare 1e-2 "$programs/opens_python" "$path" LOCAL 8 3
    [ "$(cat bare.code)" = 0 ] || fail "$path: $(cat bare.err)"
    opens trace
  done <libraries
}
