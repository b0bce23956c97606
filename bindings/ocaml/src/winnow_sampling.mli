(* What of Gc.Memprof and of domains differs between OCaml 4 and 5. *)

(* A profile of Gc.Memprof. *)
type profile

val start : sampling_rate:float -> callstack_size:int -> ('minor, 'major) Gc.Memprof.tracker -> profile
val stop : unit -> unit

(* Calls no more callbacks of a stopped profile. *)
val discard : profile -> unit

(* Whether `stop` ends the callbacks for blocks that are tracked already. *)
val stop_discards : bool

(* Whether blocks that are tracked already stay tracked when another profile begins after `stop`. *)
val restart_keeps : bool

(* Runs callbacks that `stop` would drop, and raises what they raise. *)
val run_pending : unit -> unit

(* What `stop` raises without a profile. *)
val not_started : exn

(* Words of the minor heap of this domain that Gc.quick_stat does not count yet. *)
val uncounted_words : unit -> float

(* One domain at a time. *)
val exclusively : (unit -> 'a) -> 'a

(* A value of each domain: OCaml 4 has one domain. A domain begins with a copy of the value of the domain that spawns it, as it
   begins with the profile of that domain. *)
type 'a local

val new_local : copy:('a -> 'a) -> (unit -> 'a) -> 'a local
val get : 'a local -> 'a

(* False in a callback, if the domain is being spawned or ends, and has no values. *)
val is_usable : unit -> bool

(* SPDX-License-Identifier: MIT *)
