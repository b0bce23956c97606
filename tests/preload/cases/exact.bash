# At rate 1 nothing is left to chance: the trace's sums are the program's, to the byte.
#
# The witnesses are programs/count.c, a preloaded library that counts by itself, and valgrind. They agree where valgrind
# leaves the program alone. It does not leave it alone when the program looks at its environment, to which valgrind adds
# four variables (perl copies each into a table of its own), or at operator new, whose bytes libstdc++ rounds up for
# malloc, while valgrind and we count what operator new was asked for. A thread's table of thread-local storage has an
# entry of 16 bytes for our library. So perl and threads are compared with the first witness only.
# Both runs get the same few variables: bash would put each command's own path into `_`.
clean="env -i PATH=/usr/bin:/bin HOME=/ PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0"

sums_of_trace() {
  figure '[.totals.allocated_blocks, .totals.allocated_bytes, .totals.live_at_end_bytes, .totals.live_at_end_blocks]
    | map(.estimate) | join(" ")' trace --no-symbols
}

sums_by_count() { # COMMAND...
  $clean COUNT_FILE="$PWD/counted" LD_PRELOAD="$build/tests/preload/programs/libcount.so" "$@" >counted.out 2>&1 </dev/null
  [ -s counted ] || fail "$* was not counted"
  [ "$(cut -d' ' -f5 counted)" = 0 ] || fail "$*: the loader allocated before the C library was ready"
  cut -d' ' -f1-4 counted
}

# births, bytes, and what lives, from valgrind's protocol of calls.
sums_by_valgrind() { # COMMAND...
  $clean valgrind --trace-malloc=yes --run-libc-freeres=no --run-cxx-freeres=no --log-file=calls "$@" >counted.out 2>&1 </dev/null
  awk '
    function born(block, bytes) { births++; allocated += bytes; live_bytes += bytes; live++; size[block] = bytes }
    function died(block) { if (block in size) { live_bytes -= size[block]; live--; delete size[block] } }
    !/^--[0-9]+-- [a-zA-Z_]+\(/ { next }
    {
      call = $0
      sub(/^--[0-9]+-- /, "", call)
      name = call; sub(/\(.*/, "", name)
      arguments = call; sub(/^[^(]*\(/, "", arguments); sub(/\).*/, "", arguments)
      block = call; sub(/.* = /, "", block)
      n = split(arguments, argument, /[, ]+/)
      if (block == "0x0" || block == "0") next
      if (name == "realloc" && argument[1] != "0x0" && argument[2] > 0) {
        before = size[argument[1]]
        if (argument[2] > before) { births++; allocated += argument[2] }
        live_bytes += argument[2] - before
        delete size[argument[1]]
        size[block] = argument[2]
      } else if (name == "realloc" && argument[1] != "0x0") died(argument[1])
      else if (name == "calloc") born(block, argument[1] * argument[2])
      else if (name ~ /^(free|_Zd|cfree)/) died(argument[1])
      else if (name ~ /^(malloc$|memalign$|realloc$|_Zn)/) born(block, argument[n])
    }
    END { print births, allocated, live_bytes, live }' calls
}

same_sums() { # WITNESS COMMAND...
  local witness=$1
  shift
  local expected got
  expected=$("$witness" "$@") || exit 1
  $clean "$winnow" record -q --rate 1 -o trace -- "$@" >recorded.out 2>&1 </dev/null
  cmp -s counted.out recorded.out || fail "$* printed something else: $(diff counted.out recorded.out | head)"
  got=$(sums_of_trace) || exit 1
  [ "$tiny" = 1 ] || [ "$(figure .trace.lost)" = 0 ] || fail "$*: records lost"
  # Blocks, bytes allocated, bytes alive, blocks alive.
  if [ "$tiny" = 1 ]; then
    [ "${got%% *}" -le "${expected%% *}" ] || fail "$*: more blocks than there were: $got, not $expected"
  else
    [ "$got" = "$expected" ] || fail "$*: $got, but $witness says $expected"
  fi
}

sql="create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<2000) insert into t select i, 'text number '||i, i*1.5 from n;
create index ti on t(b); select count(*), sum(c), group_concat(b) from t where b like '%9%';"
# shellcheck disable=SC2016
perl_script='my %h; $h{$_ % 97} .= "x$_" for 1 .. 2000; my @s = map { {n => $_, t => "a" x $_} } 1 .. 300; print scalar(keys %h), "\n"'

everything_is_counted_at_rate_1() {
  same_sums sums_by_count ls -l /usr
  same_sums sums_by_count "$programs/random_blocks" 1 3000
  same_sums sums_by_count "$programs/growing"
  same_sums sums_by_count "$programs/containers"
  need xz && same_sums sums_by_count xz --version
  need perl && same_sums sums_by_count perl -e "$perl_script"
  need sqlite3 && same_sums sums_by_count sqlite3 :memory: "$sql"
}

valgrind_counts_the_same() { # S6
  need valgrind
  same_sums sums_by_valgrind "$programs/growing"
  same_sums sums_by_valgrind "$programs/containers"
  same_sums sums_by_valgrind ls /
  need xz && same_sums sums_by_valgrind xz --version
  need sqlite3 && same_sums sums_by_valgrind sqlite3 --version
}

# The same seed, program and order of threads give the same samples.
equal_seeds_give_equal_samples() { # S8
  local first
  for round in 1 2 3; do
    $clean "$winnow" record -q --rate 0.01 --seed 42 -o trace -- "$programs/random_blocks" 1 3000 >/dev/null
    first=${first:-$(sums_of_trace)}
    [ "$(sums_of_trace)" = "$first" ] || fail "round $round: $(sums_of_trace), not $first"
  done
  $clean "$winnow" record -q --rate 0.01 --seed 43 -o trace -- "$programs/random_blocks" 1 3000 >/dev/null
  [ "$(sums_of_trace)" != "$first" ] || fail "another seed gave the same"
}
