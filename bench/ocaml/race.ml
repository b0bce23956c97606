(* A program of OCaml that is recorded by Winnow, by Memtrace, or not.
     race off|winnow|memtrace trees|maps|threads RATE DEPTH FILE *)
type tree = Leaf | Node of tree * tree

let rec make depth = if depth = 0 then Leaf else Node (make (depth - 1), make (depth - 1))
let rec size = function Leaf -> 0 | Node (left, right) -> 1 + size left + size right

module Map = Map.Make (String)

let kept = ref Map.empty

(* What lives all the time. Without it nearly all of the heap is free at times, and by chance, in one run and not in the next, the
   runtime compacts it and then grows it again. *)
let lives = make 17

let trees () =
  for _ = 1 to 240 do
    ignore (Sys.opaque_identity (size (make 17)))
  done

(* A map of 20,000 strings of which each round replaces some. *)
let maps () =
  for i = 1 to 1_000_000 do
    kept := Map.add ("key " ^ string_of_int (i * 7919 mod 20_000)) (string_of_int i) !kept
  done

let threads () =
  let work () =
    for _ = 1 to 100 do
      ignore (Sys.opaque_identity (size (make 16)));
      ignore (Sys.opaque_identity (List.init 20_000 string_of_int))
    done
  in
  List.iter Thread.join (List.init 4 (fun _ -> Thread.create work ()))

(* One more frame, of two that take turns. *)
let rec even n work = if n = 0 then work () else 1 + odd (n - 1) work
and odd n work = if n = 0 then work () else 1 + even (n - 1) work

let () =
  let sampling_rate = float_of_string Sys.argv.(3) and filename = Sys.argv.(5) in
  (match Sys.argv.(1) with
  | "winnow" -> ignore (Winnow.start ~sampling_rate filename)
  | "memtrace" -> ignore (Memtrace.start_tracing ~context:None ~sampling_rate ~filename)
  | _ -> ());
  let program = match Sys.argv.(2) with "trees" -> trees | "maps" -> maps | _ -> threads in
  ignore (Sys.opaque_identity lives);
  ignore
    (even (int_of_string Sys.argv.(4)) (fun () ->
         program ();
         0))

(* SPDX-License-Identifier: MIT *)
