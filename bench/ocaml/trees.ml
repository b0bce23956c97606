(* Makes binary trees, which die, below a callstack of some depth.
     trees MODE RATE DEPTH TREES    MODE: off, empty (a tracker that follows blocks and writes nothing), winnow or
                                  callback *)
type tree = Leaf | Node of tree * tree

let rec make depth = if depth = 0 then Leaf else Node (make (depth - 1), make (depth - 1))
let rec size = function Leaf -> 0 | Node (left, right) -> 1 + size left + size right

(* One more frame, of two that take turns. *)
let rec even n work = if n = 0 then work () else 1 + odd (n - 1) work
and odd n work = if n = 0 then work () else 1 + even (n - 1) work

let () =
  let number i = float_of_string Sys.argv.(i) in
  (match Sys.argv.(1) with
  | "winnow" -> ignore (Winnow.start ~sampling_rate:(number 2) "winnow.trace")
  | "callback" -> Callback.start ~sampling_rate:(number 2) "callback.trace"
  | "empty" ->
      let follow _ = Some () in
      ignore
        (Gc.Memprof.start ~sampling_rate:(number 2) ~callstack_size:512
           { Gc.Memprof.null_tracker with alloc_minor = follow; alloc_major = follow; promote = follow })
  | _ -> ());
  let began = Sys.time () in
  for _ = 1 to int_of_float (number 4) do
    ignore (Sys.opaque_identity (even (int_of_float (number 3)) (fun () -> size (make 16))))
  done;
  Printf.printf "%.4f\n" (Sys.time () -. began)

(* SPDX-License-Identifier: MIT *)
