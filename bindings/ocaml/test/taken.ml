(* A program that has begun a profile of the runtime by itself when it asks for a trace. *)
let () =
  ignore (Sys.opaque_identity (Gc.Memprof.start ~sampling_rate:1e-3 Gc.Memprof.null_tracker));
  Winnow.trace_if_requested ();
  exit 3

(* SPDX-License-Identifier: MIT *)
