# Entry points: what the program sees must not change.
rates="1 1e-2 1e-4"

c_entry_points_give_what_they_give_without_us() {
  for rate in $rates; do same_as_bare "$rate" "$programs/entry_points"; done
}

operators_give_what_they_give_without_us() {
  for rate in $rates; do same_as_bare "$rate" "$programs/operators"; done
}

replaced_operators_work() {
  for rate in $rates; do same_as_bare "$rate" "$programs/own_operators"; done
}

blocks_keep_their_bytes() {
  for rate in $rates; do
    same_as_bare "$rate" "$programs/random_blocks" 1 20000
    same_as_bare "$rate" "$programs/random_blocks" 4 8000
  done
}

# Without a region sampled blocks lie in the real allocator, found by their addresses.
entry_points_work_without_a_region() {
  ulimit -v 2000000
  for rate in $rates; do
    same_as_bare "$rate" "$programs/entry_points"
    same_as_bare "$rate" "$programs/operators"
    same_as_bare "$rate" "$programs/own_operators"
  done
}

blocks_keep_their_bytes_without_a_region() {
  ulimit -v 300000
  for rate in $rates; do
    same_as_bare "$rate" "$programs/random_blocks" 1 20000
    same_as_bare "$rate" "$programs/random_blocks" 4 8000
  done
  [ "$(figure .trace.samples)" -gt 0 ] || fail "nothing was sampled"
}

# One block that grows twenty times: all calls from the first sample on are known, and how many that are is chance.
ranges_hold_what_a_block_allocated_that_grows_many_times() {
  local seed shown=0 held=0 bytes
  for seed in $(seq 40); do
    record --rate 3e-4 --seed "$seed" -- "$programs/growing" >/dev/null || fail "growing failed"
    bytes=$(figure '.totals.allocated_bytes | "\(.samples) \(.low <= 331100 and 331100 <= .high)"' trace --where 'fn = grow_a_block')
    [ "${bytes% *}" = 0 ] && continue
    shown=$((shown + 1))
    [ "${bytes#* }" = true ] && held=$((held + 1))
  done
  [ "$shown" -ge 20 ] || fail "only $shown of 40 had a sample"
  [ "$((10 * held))" -ge "$((9 * shown))" ] || fail "only $held of $shown ranges hold the truth"
}

realloc_keeps_the_block() {
  record --rate 1 -- "$programs/growing" >/dev/null || fail "growing failed"
  counted "calls that made it larger" "$(of .totals.allocated_blocks grow_a_block)" 21
  counted "alive at the end" "$(of .totals.live_at_end_blocks grow_a_block)" 1
  counted "bytes of it" "$(of .totals.live_at_end_bytes grow_a_block)" 44100
  counted "allocated by them" "$(of .totals.allocated_bytes grow_a_block)" 331100
  counted "calls before shrinking" "$(of .totals.allocated_blocks shrink_a_block)" 1
  counted "left of them" "$(of .totals.live_at_end_blocks shrink_a_block)" 0
  counted "allocated before shrinking" "$(of .totals.allocated_bytes shrink_a_block)" 100000
  counted "freed by realloc" "$(of .totals.live_at_end_blocks free_by_realloc)" 0
}

# C runs on the stack of the thread, the functions that called it on that of a goroutine.
callers_above_cgo_are_told() {
  need go
  need cc
  cat >calls.go <<'END'
package main

/*
#include <stdlib.h>
__attribute__((noinline)) static void *c_alloc(int n) { return malloc(n); }
*/
import "C"
import "unsafe"

var keep []unsafe.Pointer

//go:noinline
func decodeImages() { for i := 0; i < 200; i++ { keep = append(keep, C.c_alloc(1000)) } }

//go:noinline
func loadFonts() { for i := 0; i < 100; i++ { keep = append(keep, C.c_alloc(500)) } }

func main() {
	decodeImages()
	done := make(chan bool)
	go func() { loadFonts(); done <- true }()
	<-done
}
END
  HOME=$work GOFLAGS= GO111MODULE=off GOCACHE=$work/cache go build -o calls calls.go || skip "this go builds no program with C"
  same_as_bare 1 ./calls
  counted "blocks of decodeImages" "$(figure .totals.allocated_blocks.estimate trace --where 'fn = main.decodeImages and size = 1000')" 200
  counted "blocks of loadFonts" "$(figure .totals.allocated_blocks.estimate trace --where 'fn = main.loadFonts and size = 500')" 100
}
