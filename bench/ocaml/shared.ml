(* Makes short lists, half of which are promoted, with a tracker that follows each sampled block to its death.
     shared MODE RATE ROUNDS    MODE: runtime (Gc.Memprof), shared (Winnow.Memprof), recording (no tracker), or both (Winnow.Memprof
                                and a recording)
   Prints the processor time and how often the tracker was called. *)
let calls = ref 0

let tracker : (unit, unit) Gc.Memprof.tracker =
  let follow _ =
    incr calls;
    Some ()
  in
  let forget () = incr calls in
  { alloc_minor = follow; alloc_major = follow; promote = follow; dealloc_minor = forget; dealloc_major = forget }

let rec make n = if n = 0 then [] else n :: make (n - 1)

let () =
  let mode = Sys.argv.(1) and sampling_rate = float_of_string Sys.argv.(2) in
  if mode = "recording" || mode = "both" then ignore (Winnow.start ~sampling_rate ~memprof_rate:sampling_rate "shared.trace");
  if mode = "runtime" then ignore (Gc.Memprof.start ~sampling_rate ~callstack_size:8 tracker);
  if mode = "shared" || mode = "both" then ignore (Winnow.Memprof.start ~sampling_rate ~callstack_size:8 tracker);
  let kept = Array.make 1000 [] in
  let began = Sys.time () in
  for i = 1 to int_of_string Sys.argv.(3) do
    let list = Sys.opaque_identity (make 10) in
    if i land 1 = 0 then kept.(i mod 1000) <- list
  done;
  Printf.printf "%.4f %d\n" (Sys.time () -. began) !calls

(* SPDX-License-Identifier: MIT *)
