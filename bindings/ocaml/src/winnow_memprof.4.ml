type allocation_source = Gc.Memprof.allocation_source = Normal | Marshal | Custom

type allocation = Gc.Memprof.allocation = private {
  n_samples : int;
  size : int;
  source : allocation_source;
  callstack : Printexc.raw_backtrace;
}

type ('minor, 'major) tracker = ('minor, 'major) Gc.Memprof.tracker = {
  alloc_minor : allocation -> 'minor option;
  alloc_major : allocation -> 'major option;
  promote : 'minor -> 'major option;
  dealloc_minor : 'minor -> unit;
  dealloc_major : 'major -> unit;
}

let () = Winnow_sharing.expect_own ()
let null_tracker = Gc.Memprof.null_tracker

let start ~sampling_rate ?(callstack_size = max_int) tracker =
  ignore (Winnow_sharing.start Own ~sampling_rate ~callstack_size tracker)

let stop () =
  let client = Winnow_sharing.own () in
  Winnow_sharing.stop client;
  Winnow_sharing.discard client

(* SPDX-License-Identifier: MIT *)
