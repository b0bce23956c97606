# Other allocators below us: preloaded, or linked with the program.

# Debian's names; the first folder that has one.
find_allocator() { # NAME
  local folder
  for folder in /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/lib; do
    [ -e "$folder/$1" ] && { echo "$folder/$1"; return; }
  done
  return 1
}

# Another allocator answers odd requests otherwise than the C library, so a run is compared with its own bare one.
works_over() { # ALLOCATOR
  local other rate
  other=$(find_allocator "$1") || skip "there is no $1"
  export LD_PRELOAD=$other
  for rate in 1 1e-2 1e-4; do
    same_as_bare $rate "$programs/random_blocks" 1 10000
    same_as_bare $rate "$programs/random_blocks" 4 5000
    same_as_bare $rate "$programs/containers"
    same_as_bare $rate "$programs/own_operators"
    same_as_bare $rate "$programs/thread_locals"
    same_as_bare $rate "$programs/growing"
  done
  LD_PRELOAD=$other record --rate 1 -- "$programs/random_blocks" 4 5000 >/dev/null
  unset LD_PRELOAD
  opens trace
  # That the other allocator was really below: the program maps it.
  LD_PRELOAD=$other record --rate 1e-4 -- cat /proc/self/maps >maps
  grep -q "$(basename "$(realpath "$other")")" maps || fail "$1 was not loaded"
  grep -q libwinnow-malloc maps || fail "we were not loaded"
}

jemalloc_may_lie_below() { works_over libjemalloc.so.2; }
tcmalloc_may_lie_below() { works_over libtcmalloc_minimal.so.4; }
mimalloc_may_lie_below() { works_over libmimalloc.so.2; }

# Preloaded before us, the other allocator has malloc, and we are called only for what it lacks: nothing may be recorded,
# and a block that we allocate must be the other's.
works_before() { # ALLOCATOR
  local other program
  other=$(find_allocator "$1") || skip "there is no $1"
  for program in "random_blocks 2 5000" containers operators own_operators growing grown_blocks; do
    # shellcheck disable=SC2086
    run_as bare env LD_PRELOAD="$other" "$programs/"$program
    # shellcheck disable=SC2086
    run_as behind env LD_PRELOAD="$other:$library" WINNOW_TRACE=trace WINNOW_RATE=1 "$programs/"$program
    one_line_of behind.err "^winnow: .*$1 is loaded first and brings its own malloc; to record, load it later; going on unprofiled"
    diff bare.code behind.code && diff bare.out behind.out || fail "$program: $(cat behind.out behind.err)"
  done
  [ "$(cat behind.code)" = 0 ] || fail "grown_blocks ended with $(cat behind.code)"
}

jemalloc_may_lie_before() { works_before libjemalloc.so.2; }
tcmalloc_may_lie_before() { works_before libtcmalloc_minimal.so.4; }
mimalloc_may_lie_before() { works_before libmimalloc.so.2; }

# A malloc of the program: whole, or over the next malloc, with a header before each block. Nothing that the program does
# not define may come from elsewhere, or be counted twice.
programs_keep_their_own_malloc() {
  local program rate
  for program in own_malloc passing_malloc; do
    run_as bare "$programs/$program"
    [ "$(cat bare.code)" = 0 ] || fail "$program alone: $(cat bare.out bare.err)"
    for rate in 1 1e-2; do
      run_as preloaded env LD_PRELOAD="$library" WINNOW_TRACE=trace WINNOW_RATE=$rate "$programs/$program"
      diff bare.code preloaded.code && diff bare.out preloaded.out || fail "$program: $(cat preloaded.err)"
    done
    rm -rf trace
    run_as child "$winnow" record -q -f -o trace -- sh -c "\"$programs/$program\"; exit \$?"
    diff bare.code child.code && diff bare.out child.out || fail "$program as a child: $(cat child.err)"
  done
  rm -rf trace
  run_as counted env LD_PRELOAD="$library" WINNOW_TRACE=trace WINNOW_RATE=1 "$programs/passing_malloc"
  counted "blocks of new" "$(figure .totals.allocated_blocks.estimate trace --where 'fn ~ allocate_six_thousand')" 6000
}

# valgrind puts its own functions in the place of ours: that is not the program's doing.
valgrind_is_said_to_replace_malloc() {
  need valgrind
  run_as valgrind "$winnow" record -q -f -o trace --rate 1 -- sh -c "valgrind -q --leak-check=no '$programs/growing'; exit \$?"
  [ "$(cat valgrind.code)" = 0 ] || skip "valgrind does not work here: $(cat valgrind.err)"
  one_line_of valgrind.err '^winnow: a tool that runs the program, such as valgrind, replaces malloc; to record, run it without; going on unprofiled$'
}

compiled() { # OUTPUT SOURCE... : with the compiler that is there
  local output=$1
  shift
  command -v c++ >/dev/null || skip "no compiler"
  c++ -O1 -w -fno-builtin -pthread -o "$output" "$@" || fail "$* does not compile"
}

linked_with() { # ALLOCATOR
  local other
  other=$(find_allocator "$1") || skip "there is no $1"
  compiled containers "$here/programs/containers.cpp" "$other"
  compiled thread_locals "$here/programs/thread_locals.cpp" "$other"
  for rate in 1 1e-2 1e-4; do
    same_as_bare $rate ./containers
    same_as_bare $rate ./thread_locals
  done
  record --rate 1 -- ./containers >/dev/null
  opens trace
  # Every block of the program is counted over any allocator. The C++ library's pool for emergencies is not made by all.
  counted "blocks of $1" "$(figure .totals.allocated_blocks.estimate trace --where 'fn = main')" "$blocks_of_containers"
}

programs_linked_with_other_allocators_are_counted() {
  compiled bare "$here/programs/containers.cpp"
  record --rate 1 -- ./bare >/dev/null
  blocks_of_containers=$(figure .totals.allocated_blocks.estimate trace --where 'fn = main')
  [ "$tiny" = 1 ] && blocks_of_containers=1000000
  for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    find_allocator $name >/dev/null && linked_with $name
  done
  return 0
}
