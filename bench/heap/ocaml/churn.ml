(* Lists of 100 cells that are built, summed and dropped: churn LISTS. *)
let rec build n seed list = if n = 0 then list else build (n - 1) seed ((seed + n) :: list)
let rec sum total = function [] -> total | head :: tail -> sum (total + head) tail

let () =
  let lists = int_of_string Sys.argv.(1) in
  let total = ref 0 in
  for i = 1 to lists do
    total := (!total + sum 0 (build 100 i [])) land 0xffffffffffff
  done;
  Printf.printf "%d lists: %d\n" lists !total

(* SPDX-License-Identifier: MIT *)
