(* Trees of many sizes beside one tree and one array that stay: gcbench DOMAINS DEPTH. Each domain does all of it. For OCaml 5. *)

type tree = Leaf | Node of { mutable left : tree; mutable right : tree; one : int; two : int }

let node left right = Node { left; right; one = 0; two = 0 }

let rec from_leaves depth =
  let child () = if depth > 0 then from_leaves (depth - 1) else Leaf in
  let left = child () in
  node left (child ())

let rec grow tree depth =
  match tree with
  | Node n when depth > 0 ->
    n.left <- node Leaf Leaf;
    grow n.left (depth - 1);
    n.right <- node Leaf Leaf;
    grow n.right (depth - 1)
  | _ -> ()

let from_root depth =
  let root = node Leaf Leaf in
  grow root depth;
  root

let rec count = function Leaf -> 0 | Node n -> 1 + count n.left + count n.right
let expect tree depth = if count tree <> (2 lsl depth) - 1 then failwith "a tree is not what it was"

let make_trees most depth =
  let rounds = 2 * (4 lsl most) / (2 lsl depth) in
  for _ = 1 to rounds do expect (from_root depth) depth done;
  for _ = 1 to rounds do expect (from_leaves depth) depth done

let work most () =
  expect (from_leaves most) most;
  let stays = from_root (most - 2) in
  let numbers = Array.init 500000 (fun i -> 1. /. float_of_int (i + 1)) in
  for half = 2 to (most - 2) / 2 do make_trees most (2 * half) done;
  expect stays (most - 2);
  Array.iteri (fun i x -> if x <> 1. /. float_of_int (i + 1) then failwith "a number changed") numbers

let () =
  let domains = int_of_string Sys.argv.(1) and most = int_of_string Sys.argv.(2) in
  let others = List.init (domains - 1) (fun _ -> Domain.spawn (work most)) in
  work most ();
  List.iter Domain.join others;
  Printf.printf "%d domains\n" domains
(* SPDX-License-Identifier: MIT *)
