(** [Gc.Memprof] for a program that Winnow may record at the same time: {!Winnow.Memprof}. The types are those of [Gc.Memprof], and
    each function does what that of [Gc.Memprof] does, whether or not there is a recording.

    The recording and the program share one profile of [Gc.Memprof]. Each of them gets its own samples, which have the distribution
    of its own rate, and callstacks of its own depth.

    A profile that is under way cannot change:
    OCaml 5 would end sampling in other domains.
    Therefore [start] raises [Failure] during a recording that has a smaller rate or smaller callstacks. A program avoids this by
    naming the largest rate that it uses when the recording begins: [Winnow.trace_if_requested ~memprof_rate:1e-3 ()]. The profile
    then has that rate, and callstacks of any depth, from the beginning of the recording on. In the same way a recording that begins
    later needs at most the rate and the depth of the program's profile.

    The runtime stops tracking a block whose callback raises in [alloc_minor], [alloc_major] or [promote]. To the recording such a
    block dies then. *)

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

val null_tracker : ('minor, 'major) tracker

type t
(** A profile of the program. *)

val start : sampling_rate:float -> ?callstack_size:int -> ('minor, 'major) tracker -> t
(** As [Gc.Memprof.start]: for this domain and those that it spawns afterwards.
    @raise Failure also if the recording has a smaller rate or smaller callstacks. *)

val stop : unit -> unit
(** As [Gc.Memprof.stop]: blocks that are tracked already have callbacks until {!discard}. The recording goes on. *)

val discard : t -> unit
(** As [Gc.Memprof.discard]. *)

(* SPDX-License-Identifier: MIT *)
