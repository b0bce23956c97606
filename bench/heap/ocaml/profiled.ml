(* PROFILE_RATE in the environment: the program is profiled at that rate, by a tracker that follows each block to its end, as in
   heap_program.h. Linked in front of each program. *)
let deaths = ref 0

let tracker =
  {
    Gc.Memprof.alloc_minor = (fun _ -> Some ());
    alloc_major = (fun _ -> Some ());
    promote = (fun () -> Some ());
    dealloc_minor = (fun () -> incr deaths);
    dealloc_major = (fun () -> incr deaths);
  }

let () =
  match Sys.getenv_opt "PROFILE_RATE" with
  | None -> ()
  | Some rate -> ignore (Gc.Memprof.start ~sampling_rate:(float_of_string rate) tracker)

(* SPDX-License-Identifier: MIT *)
