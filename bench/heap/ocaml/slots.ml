(* An array of 2^18 lists, each with the last four keys that fell into its slot: slots UPDATES. *)
let seed = ref 1

(* The same numbers as sequence.h: 31 random bits from a state of 48. *)
let random () =
  seed := ((!seed * 0x5DEECE66D) + 11) land 0xffffffffffff;
  !seed lsr 17

let rec take n = function [] -> [] | head :: tail -> if n = 0 then [] else head :: take (n - 1) tail

let slots = 1 lsl 18

let () =
  let updates = int_of_string Sys.argv.(1) in
  let lists = Array.make slots [] in
  for _ = 1 to updates do
    let slot = random () land (slots - 1) in
    let key = random () in
    lists.(slot) <- key :: take 3 lists.(slot)
  done;
  let sum = ref 0 in
  Array.iter (List.iter (fun key -> sum := ((!sum * 31) + key) land 0xffffffffffff)) lists;
  Printf.printf "%d updates: %d\n" updates !sum

(* SPDX-License-Identifier: MIT *)
