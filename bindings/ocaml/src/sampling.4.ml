let start ~sampling_rate ~callstack_size tracker =
  Gc.Memprof.start ~sampling_rate ~callstack_size tracker;
  fun () ->
    Gc.minor (); (* runs callbacks that stop would drop *)
    Gc.Memprof.stop ()

(* SPDX-License-Identifier: MIT *)
