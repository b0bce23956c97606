(* A cache that forgets what was used least recently, and how long its operations take: cache ENTRIES OPERATIONS.
   The counterpart of own/cache.c. *)
external now : (int[@untagged]) -> (int[@untagged]) = "clock_is_native_only" "clock_now" [@@noalloc]

type entry = { key : int; value : Bytes.t; mutable before : entry; mutable after : entry; mutable chain : entry }

(* Also the end of every chain, and the ring's own entry: after it is the latest, before it the oldest. *)
let rec ring = { key = -1; value = Bytes.empty; before = ring; after = ring; chain = ring }

let seed = ref 1

(* The same numbers as sequence.h: 31 random bits from a state of 48. *)
let random () =
  seed := ((!seed * 0x5DEECE66D) + 11) land 0xffffffffffff;
  !seed lsr 17

let rec power_above n power = if power < n then power_above n (power * 2) else power

let unlink entry =
  entry.before.after <- entry.after;
  entry.after.before <- entry.before

let link_latest entry =
  let latest = ring.after in
  entry.before <- ring;
  entry.after <- latest;
  latest.before <- entry;
  ring.after <- entry

(* Spreads the keys as evenly as own/cache.c does, by a multiplier that fits into 63 bits. *)
let bucket_of buckets key = ((key * 0x1E3779B97F4A7C15) lsr 20) land (Array.length buckets - 1)

let unchain buckets entry =
  let bucket = bucket_of buckets entry.key in
  let rec search at = if at.chain == entry then at.chain <- entry.chain else search at.chain in
  if buckets.(bucket) == entry then buckets.(bucket) <- entry.chain else search buckets.(bucket)

let insert buckets key =
  let bucket = bucket_of buckets key in
  let value = Bytes.create 31 in
  Bytes.set_int64_le value 0 (Int64.of_int key);
  let entry = { key; value; before = ring; after = ring; chain = buckets.(bucket) } in
  buckets.(bucket) <- entry;
  link_latest entry

let rec find key at = if at == ring || at.key = key then at else find key at.chain

(* 1 if the key was there. *)
let use buckets key =
  let at = find key buckets.(bucket_of buckets key) in
  if at != ring then (
    unlink at;
    link_latest at;
    1)
  else
    let oldest = ring.before in
    unlink oldest;
    unchain buckets oldest;
    insert buckets key;
    0

(* Counts by size, sixteen to a power of two, as in own/latency.h. *)
let counts = Array.make 1024 0

let bucket_of_time time =
  let rec power n = if n < 32 then 4 else 1 + power (n lsr 1) in
  let p = power time in
  ((p - 4) * 16) + (time lsr (p - 4))

let bound bucket = if bucket < 32 then bucket else ((bucket mod 16) + 17) lsl ((bucket / 16) - 1) - 1

let at part total most =
  let wanted = part *. float total in
  let rec search i seen =
    let seen = seen + counts.(i) in
    if float seen >= wanted then float (min (bound i) most) /. 1e3 else search (i + 1) seen
  in
  search 0 0

let () =
  let entries = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  let buckets = Array.make (power_above entries 1) ring in
  for key = 0 to entries - 1 do
    insert buckets key
  done;
  let start = now 0 in
  let last = ref start and hits = ref 0 and most = ref 0 in
  for _ = 1 to operations do
    hits := !hits + use buckets (random () mod (2 * entries));
    let time = now 0 in
    let took = time - !last in
    counts.(bucket_of_time took) <- counts.(bucket_of_time took) + 1;
    if took > !most then most := took;
    last := time
  done;
  Printf.printf "%.0f ns an operation\n" (float (!last - start) /. float operations);
  Printf.printf "p50 %.3f us, p99 %.3f us, p99.9 %.3f us, p99.99 %.3f us, most %.3f us\n" (at 0.5 operations !most)
    (at 0.99 operations !most) (at 0.999 operations !most) (at 0.9999 operations !most)
    (float !most /. 1e3);
  let rec check at seen wrong =
    if at == ring then (seen, wrong)
    else check at.after (seen + 1) (if Bytes.get_int64_le at.value 0 = Int64.of_int at.key then wrong else wrong + 1)
  in
  let seen, wrong = check ring.after 0 0 in
  Printf.printf "%d hits, %d entries, %d wrong\n" !hits seen wrong;
  exit (if wrong = 0 && seen = entries then 0 else 1)

(* SPDX-License-Identifier: MIT *)
