(* What of Gc.Memprof differs between OCaml 4 and 5. *)

(* Samples until the function that it returns is called. After that no callback is called, but for those that run. *)
val start : sampling_rate:float -> callstack_size:int -> ('minor, 'major) Gc.Memprof.tracker -> unit -> unit

(* SPDX-License-Identifier: MIT *)
