(* What it costs to write and to read the data of the four races: marshal DATA ROUNDS [READS], as own/marshal.c. *)
external now : (int[@untagged]) -> (int[@untagged]) = "clock_is_native_only" "clock_now" [@@noalloc]

type tree = Empty | Node of tree * tree

let rec make depth =
  if depth = 0 then Node (Sys.opaque_identity Empty, Empty)
  else
    let left = make (depth - 1) in
    Node (left, make (depth - 1))

let seed = ref 1

(* The same numbers as sequence.h: 31 random bits from a state of 48. *)
let random () =
  seed := ((!seed * 0x5DEECE66D) + 11) land 0xffffffffffff;
  !seed lsr 17

let rec take n = function [] -> [] | head :: tail -> if n = 0 then [] else head :: take (n - 1) tail
let slots = 1 lsl 18

let make_slots () =
  let lists = Array.make slots [] in
  for _ = 1 to 2_000_000 do
    let slot = random () land (slots - 1) in
    let key = random () in
    lists.(slot) <- key :: take 3 lists.(slot)
  done;
  lists

module Map = struct
  type map = Leaf | Inner of { left : map; key : string; count : int; right : map; height : int }

  let height = function Leaf -> 0 | Inner { height; _ } -> height

  let create left key count right =
    let a = height left and b = height right in
    Inner { left; key; count; right; height = (if a >= b then a + 1 else b + 1) }

  let balance left key count right =
    let a = height left and b = height right in
    match (left, right) with
    | Inner l, _ when a > b + 2 -> (
        match l.right with
        | Inner m when height l.left < height l.right ->
            let first = create l.left l.key l.count m.left in
            create first m.key m.count (create m.right key count right)
        | _ -> create l.left l.key l.count (create l.right key count right))
    | _, Inner r when b > a + 2 -> (
        match r.left with
        | Inner m when height r.right < height r.left ->
            let first = create left key count m.left in
            create first m.key m.count (create m.right r.key r.count r.right)
        | _ -> create (create left key count r.left) r.key r.count r.right)
    | _ -> create left key count right

  let rec add key count = function
    | Leaf -> Inner { left = Leaf; key; count; right = Leaf; height = 1 }
    | Inner n ->
        let order = String.compare key n.key in
        if order = 0 then create n.left n.key (n.count + count) n.right
        else if order < 0 then balance (add key count n.left) n.key n.count n.right
        else balance n.left n.key n.count (add key count n.right)
end

let make_strmap () =
  let map = ref Map.Leaf in
  for i = 1 to 1_000_000 do
    map := Map.add ("item-" ^ string_of_int (random () land (slots - 1))) (i land 1023) !map
  done;
  !map

let rec build n seed list = if n = 0 then list else build (n - 1) seed ((seed + n) :: list)

let () =
  let data = Sys.argv.(1) and rounds = int_of_string Sys.argv.(2) in
  let reads = if Array.length Sys.argv > 3 then int_of_string Sys.argv.(3) else rounds in
  let value =
    match data with
    | "trees" -> Obj.repr (make 18)
    | "slots" -> Obj.repr (make_slots ())
    | "strmap" -> Obj.repr (make_strmap ())
    | "churn" -> Obj.repr (build 100 1 [])
    | _ -> failwith "DATA is none of trees, slots, strmap and churn"
  in
  let messages = if data = "churn" then 10000 else 1 in
  let total = ref 0 in
  let began = now 0 in
  for _ = 1 to rounds * messages do
    total := !total + Bytes.length (Marshal.to_bytes value [])
  done;
  let written = now 0 in
  let message = Marshal.to_bytes value [] in
  let reading = now 0 in
  for _ = 1 to reads * messages do
    ignore (Sys.opaque_identity (Marshal.from_bytes message 0 : Obj.t))
  done;
  let read = now 0 in
  let each ns rounds = float ns /. 1e6 /. float rounds in
  Printf.printf "%s %d bytes, write %.3f ms, read %.3f ms\n" data (!total / rounds) (each (written - began) rounds)
    (each (read - reading) reads)

(* SPDX-License-Identifier: MIT *)
