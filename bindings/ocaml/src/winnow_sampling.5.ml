type profile = Gc.Memprof.t

let start ~sampling_rate ~callstack_size tracker = Gc.Memprof.start ~sampling_rate ~callstack_size tracker
let stop = Gc.Memprof.stop
let discard = Gc.Memprof.discard
let stop_discards = false
let restart_keeps = true

external run_pending : unit -> unit = "winnow_run_pending"

let not_started = Failure "Gc.Memprof.stop: no profile running."

external uncounted_words : unit -> float = "winnow_young_words"

let lock = Mutex.create ()
let exclusively action = Mutex.protect lock action

type 'a local = 'a Domain.DLS.key

let new_local ~copy first = Domain.DLS.new_key ~split_from_parent:copy first

(* The values of the domain, as module Domain of the standard library has them: not a block before they are there. *)
external values : unit -> Obj.t = "%dls_get"

let is_usable () = Obj.is_block (values ())
let get = Domain.DLS.get

(* SPDX-License-Identifier: MIT *)
