# Names of functions that a runtime makes while the program runs.

calls_to() { figure .totals.allocated_blocks.estimate trace --where "fn = \"$1\" and size = $2"; }

made_functions_have_the_names_of_their_time() {
  [ "$(uname -m)" = x86_64 ] || skip "the program makes code for x86-64"
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/makes_code"
  # Code without a name at the first look has the first one that comes.
  local wanted found
  for wanted in first:1 first:100 second:200 'A.late(int):300' 'A.late(int):400'; do
    found=$(calls_to "${wanted%:*}" "${wanted##*:}")
    [ "$found" = 1000 ] || fail "$wanted: $found"
  done
  "$winnow" report trace >report
  grep -Eq '^ +700 kB .* A\.late\(int\) +< run' report || fail "$(cat report)"
  grep -Eq '^ +200 kB .* second +app\.js:9 +< run' report || fail "$(cat report)"
}

names_of_made_functions_stay_in_joined_traces() {
  [ "$(uname -m)" = x86_64 ] || skip "the program makes code for x86-64"
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local wanted found
  ends_well "$winnow" record -q -f -o trace --rate 1 -- "$programs/makes_code" FORK
  [ "$(traces | wc -l)" = 2 ] || fail "$(traces)"
  for wanted in first:1 second:200 'A.late(int):300' second:500; do
    found=$(calls_to "${wanted%:*}" "${wanted##*:}")
    [ "$found" = 1000 ] || fail "of both, $wanted: $found"
  done
}

# The record of a function may come when all its blocks are allocated: it has a time.
functions_that_are_told_late_have_their_blocks() {
  [ "$(uname -m)" = x86_64 ] || skip "the program makes code for x86-64"
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local wanted found
  ends_well "$winnow" record -q -o trace --rate 1 -- "$programs/makes_code" DUMP
  for wanted in old:100 new:200; do
    found=$(calls_to "${wanted%:*}" "${wanted##*:}")
    [ "$found" = 1000 ] || fail "$wanted: $found"
  done
  "$winnow" report trace >report
  grep -Eq '^ +200 kB .* new +app\.js:9 +< call' report || fail "$(cat report)"
  rm trace
  ends_well "$winnow" record -q -f -o trace --rate 1 -- sh -c "'$programs/makes_code' DUMP; '$programs/makes_code' DUMP"
  for wanted in old:100 new:200; do
    found=$(calls_to "${wanted%:*}" "${wanted##*:}")
    [ "$found" = 2000 ] || fail "of both, $wanted: $found"
  done
}

programs_that_make_code_do_as_without() {
  [ "$(uname -m)" = x86_64 ] || skip "the program makes code for x86-64"
  local how rate
  for how in CANCEL FILTER HANDLER; do
    "$programs/makes_code" $how
    [ $? != 77 ] || continue
    for rate in 1 1e-3; do same_as_bare $rate "$programs/makes_code" $how; done
    [ "$(cat recorded.code)" = 0 ] || fail "$how ended with $(cat recorded.code)"
  done
}

# Each function of the program must be a row of its own, with its file.
rows_are() { # FUNCTION:SIZE:BLOCKS...
  local wanted found name size blocks
  for wanted; do
    IFS=: read -r name size blocks <<<"$wanted"
    found=$(figure '.totals.allocated_blocks.estimate' trace --where "fn = \"$name\" and size = $size")
    [ "$found" = "$blocks" ] || fail "$wanted: $found; $("$winnow" report trace | sed -n '/^HELD/,$p')"
  done
}

functions_of_node_have_names() {
  need node; need jq
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  local options
  cat >app.js <<'JS'
const kept = [];
function keep(n) { kept.push(Buffer.allocUnsafeSlow(n)); }
function serve(i) { keep(30011); if (i % 2) keep(30013); }
for (let i = 0; i < 300; i++) serve(i);
process.on('exit', () => require('fs').rmSync(`/tmp/perf-${process.pid}.map`, { force: true }));
JS
  for options in --perf-basic-prof --perf-prof; do
    rm -rf trace
    ends_well "$winnow" record -q -o trace --rate 1e-2 -- node $options --interpreted-frames-native-stack app.js
    rows_are keep:30011:300 keep:30013:150
    "$winnow" report trace >report
    tr -s '\n ' ' ' <report | grep -Fq ' keep app.js:2 < serve:3 < <anonymous> app.js:1 <' || fail "$options: $(cat report)"
  done
  ends_well "$winnow" record -o trace --rate 1e-2 -- node app.js
  grep -q "^winnow: JavaScript's functions have no names yet" last.err || fail "record: $(cat last.err)"
  "$winnow" report trace >report
  grep -q 'JavaScript.s functions have no names yet: node tells them if it is run as node --perf-basic-prof' report || fail "$(cat report)"
}

methods_of_java_have_names() {
  need javac; need java; need jcmd; need jq
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  cat >App.java <<'JAVA'
import java.nio.ByteBuffer;
public class App {
  static ByteBuffer[] kept = new ByteBuffer[10];
  static int keep(int i) { return (kept[i % 10] = ByteBuffer.allocateDirect(40000)).capacity(); }
  static long serve(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += keep(i); return sum; }
  public static void main(String[] words) throws Exception {
    long sum = 0;
    for (int i = 0; i < 40; i++) sum += serve(500);
    new ProcessBuilder("jcmd", "" + ProcessHandle.current().pid(), "Compiler.perfmap").start().waitFor();
    System.out.println(sum + serve(500));
    new java.io.File("/tmp/perf-" + ProcessHandle.current().pid() + ".map").delete();
  }
}
JAVA
  javac App.java || fail "javac failed"
  ends_well "$winnow" record -q -o trace --rate 1e-3 -- java -XX:+PreserveFramePointer -cp . App
  "$winnow" report trace >report
  grep -Eq ' App\.(keep|serve)\(int\)' report || fail "$(cat report)"
}

# What Lua allocates by functions of C is of the trace that calls them, and stacks end there.
traces_of_luajit_have_names() {
  [ "${WINNOW_LUAJIT-}" ] || skip "WINNOW_LUAJIT names no LuaJIT that writes maps; tests/preload/get-luajit builds one"
  need jq
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  cat >app.lua <<'LUA'
local ffi = require "ffi"
ffi.cdef "void *malloc(size_t); void free(void *); int getpid(void);"
local function serve(n)
  for i = 1, n do ffi.C.free(ffi.C.malloc(30011)) end
end
local function tables(n)
  local all = {}
  for i = 1, n do all[i] = { i, tostring(i) } end
  return all
end
serve(20000)
print(#tables(20000))
os.remove("/tmp/perf-" .. ffi.C.getpid() .. ".map")
LUA
  for rate in 1 1e-3; do same_as_bare $rate "$WINNOW_LUAJIT" app.lua; done
  record --rate 1e-2 -- "$WINNOW_LUAJIT" app.lua >out
  # Before it makes the trace LuaJIT interprets the loop some times.
  figure '.totals.allocated_blocks.estimate | . > 19000 and . <= 20000' trace --where 'fn ~ "^TRACE_" and file = app.lua and size = 30011' >found
  [ "$(cat found)" = true ] || fail "$("$winnow" report trace | sed -n '/^HELD/,$p')"
  [ "$(figure '.totals.allocated_blocks.estimate > 20000' trace --where 'fn ~ "^TRACE_" and size < 1000')" = true ] || fail "no tables"
}

runtimes_without_names_are_said_how_they_tell_them() {
  [ "$(uname -m)" = x86_64 ] || skip "the program makes code for x86-64"
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  cp "$programs/makes_code" luajit
  local hint='Traces of LuaJIT have no names yet: it tells them if it is built with'
  ends_well "$winnow" record -o trace --rate 1 -- ./luajit SILENT
  [ "$(grep -c "^winnow: $hint" last.err)" = 1 ] || fail "record: $(cat last.err)"
  "$winnow" report trace | tr -s '\n ' ' ' >report
  grep -q "$hint" report || fail "$(cat report)"
  ends_well "$winnow" record -f -o folder/ --rate 1 -- sh -c './luajit SILENT; ./luajit SILENT'
  [ "$(grep -c "^winnow: $hint" last.err)" = 1 ] || fail "record -f: $(cat last.err)"
  ends_well "$winnow" record -q -o trace --rate 1 -- ./luajit SILENT
  [ ! -s last.err ] || fail "record -q: $(cat last.err)"
  ends_well "$winnow" record -o trace --rate 1 -- ./luajit
  ! grep -q 'no names yet' last.err || fail "record with a map: $(cat last.err)"
  ends_well "$winnow" record -o trace --rate 1 -- "$programs/makes_code" SILENT
  ! grep -q 'no names yet' last.err || fail "another program: $(cat last.err)"
  cp "$build/tests/cli/programs/allocates" node
  ends_well "$winnow" record -o trace --rate 1 -- ./node loop
  ! grep -q 'no names yet' last.err || fail "another program that is called node: $(cat last.err)"
}
