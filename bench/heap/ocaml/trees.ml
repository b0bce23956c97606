(* Binary trees, as in the benchmarks game: trees DEPTH. *)
type tree = Empty | Node of tree * tree

(* Each leaf is a block of its own, as in the other versions: the compiler would make one constant of Node (Empty, Empty). *)
let rec make depth =
  if depth = 0 then Node (Sys.opaque_identity Empty, Empty)
  else
    let left = make (depth - 1) in
    Node (left, make (depth - 1))

let rec check = function Empty -> 0 | Node (left, right) -> 1 + check left + check right

let () =
  let most = int_of_string Sys.argv.(1) in
  Printf.printf "stretch %d: %d\n" (most + 1) (check (make (most + 1)));
  let long_lived = make most in
  let depth = ref 4 in
  while !depth <= most do
    let rounds = 1 lsl (most - !depth + 4) in
    let sum = ref 0 in
    for _ = 1 to rounds do
      sum := !sum + check (make !depth)
    done;
    Printf.printf "%d of depth %d: %d\n" rounds !depth !sum;
    depth := !depth + 2
  done;
  Printf.printf "long-lived %d: %d\n" most (check long_lived)

(* SPDX-License-Identifier: MIT *)
