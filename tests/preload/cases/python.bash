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

calls_of_python_are_those_that_it_tells() {
  [ "$tiny" = 0 ] || skip "stacks get lost in tiny tables"
  local python pythons
  pythons=$(pythons)
  [ "$pythons" ] || skip "there is no Python of 3.9 or later"
  for python in $pythons; do
    rm -rf trace calls
    ends_well "$winnow" record -q -o trace --rate 1 --stack-depth 1024 -- "$python" "$here/programs/calls.py"
    calls_of_trace | sort >found
    sort calls >expected
    [ "$(wc -l <expected)" -gt 900 ] || fail "$python: $(wc -l <expected) stacks"
    comm -23 expected found >missing
    [ -s missing ] && fail "$python: $(wc -l <missing) stacks of $(wc -l <expected) differ: $(head -c 1000 missing)"
  done
  true
}

# Debian's interpreter has no names of inlined functions, which would stand between the loop and the calls that it runs.
each_activation_of_pythons_loop_has_its_calls() {
  [ "$tiny" = 0 ] || skip "stacks get lost in tiny tables"
  local python=/usr/bin/python3
  $python -c 'import sys; assert sys.version_info >= (3, 9)' 2>/dev/null || skip "there is no $python of 3.9 or later"
  ends_well "$winnow" record -q -o trace --rate 1 -- $python "$here/programs/calls.py"
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
    grep -q 'work@' events || fail "$python: no calls at all"
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
