let start ~sampling_rate ~callstack_size tracker =
  let profile = Gc.Memprof.start ~sampling_rate ~callstack_size tracker in
  fun () ->
    Gc.Memprof.stop ();
    Gc.Memprof.discard profile

(* SPDX-License-Identifier: MIT *)
