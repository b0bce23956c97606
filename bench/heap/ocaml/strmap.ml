(* A persistent balanced tree from short strings to numbers: strmap UPDATES. *)
type map = Empty | Node of { left : map; key : string; count : int; right : map; height : int }

let seed = ref 1

(* The same numbers as sequence.h: 31 random bits from a state of 48. *)
let random () =
  seed := ((!seed * 0x5DEECE66D) + 11) land 0xffffffffffff;
  !seed lsr 17

let rec digits n = if n < 10 then 1 else 1 + digits (n / 10)

let rec fill text at n =
  Bytes.unsafe_set text at (Char.unsafe_chr (48 + (n mod 10)));
  if n >= 10 then fill text (at - 1) (n / 10)

(* "item-" and 1 to 6 digits. *)
let spell number =
  let length = 5 + digits number in
  let text = Bytes.create length in
  Bytes.blit_string "item-" 0 text 0 5;
  fill text (length - 1) number;
  Bytes.unsafe_to_string text

let height = function Empty -> 0 | Node { height; _ } -> height

let create left key count right =
  let a = height left and b = height right in
  Node { left; key; count; right; height = (if a >= b then a + 1 else b + 1) }

let balance left key count right =
  let a = height left and b = height right in
  if a > b + 2 then
    match left with
    | Empty -> assert false
    | Node l -> (
        if height l.left >= height l.right then create l.left l.key l.count (create l.right key count right)
        else
          match l.right with
          | Empty -> assert false
          | Node m ->
              let first = create l.left l.key l.count m.left in
              create first m.key m.count (create m.right key count right))
  else if b > a + 2 then
    match right with
    | Empty -> assert false
    | Node r -> (
        if height r.right >= height r.left then create (create left key count r.left) r.key r.count r.right
        else
          match r.left with
          | Empty -> assert false
          | Node m ->
              let first = create left key count m.left in
              create first m.key m.count (create m.right r.key r.count r.right))
  else Node { left; key; count; right; height = (if a >= b then a + 1 else b + 1) }

let rec add key count = function
  | Empty -> Node { left = Empty; key; count; right = Empty; height = 1 }
  | Node n ->
      let order = String.compare key n.key in
      if order = 0 then
        Node { left = n.left; key = n.key; count = n.count + count; right = n.right; height = n.height }
      else if order < 0 then balance (add key count n.left) n.key n.count n.right
      else balance n.left n.key n.count (add key count n.right)

let rec fold sum = function
  | Empty -> sum
  | Node n ->
      let sum = fold sum n.left in
      let last = Char.code n.key.[String.length n.key - 1] in
      fold (((sum * 31) + (n.count * last) + n.height) land 0xffffffffffff) n.right

let () =
  let updates = int_of_string Sys.argv.(1) in
  let map = ref Empty in
  for i = 1 to updates do
    map := add (spell (random () land ((1 lsl 18) - 1))) (i land 1023) !map
  done;
  Printf.printf "%d updates: height %d, %d\n" updates (height !map) (fold 0 !map)

(* SPDX-License-Identifier: MIT *)
