type profile = unit

let start ~sampling_rate ~callstack_size tracker = Gc.Memprof.start ~sampling_rate ~callstack_size tracker
let stop = Gc.Memprof.stop
let discard () = ()
let stop_discards = true
let restart_keeps = false
let run_pending = Gc.minor
let not_started = Failure "Gc.Memprof.stop: not started."

let uncounted_words () = 0.0
let exclusively action = action ()

type 'a local = 'a

let new_local ~copy:_ first = first ()
let is_usable () = true
let get value = value

(* SPDX-License-Identifier: MIT *)
