(** [Gc.Memprof] for a program that Winnow may record at the same time: {!Winnow.Memprof}. The types are those of [Gc.Memprof], and
    each function does what that of [Gc.Memprof] does, whether or not there is a recording.

    The recording and the program share one profile of [Gc.Memprof]. Each of them gets its own samples, which have the distribution
    of its own rate, and callstacks of its own depth.

    A profile of the runtime that is under way cannot change. If [start] asks for a larger rate or larger callstacks than the recording
    has, another profile takes its place, and both go on, with the blocks that they follow. In the same way a recording can begin
    that needs more than the program's profile.

    No domain can begin a profile in another one. Therefore the recording ends instead if a domain was spawned since it began: its trace
    is complete up to there, a line on standard error says so, and the program has a profile of its own. A recording goes on
    if it is told the largest rate when it begins, [Winnow.trace_if_requested ~memprof_rate:1e-3 ()]. A recording of a program that uses
    this module has callstacks of any depth, but the trace keeps those of its own depth.

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
    @raise Failure also if it asks for a larger rate or larger callstacks than the recording has, while the program is being profiled
    by another domain. *)

val stop : unit -> unit
(** As [Gc.Memprof.stop]: blocks that are tracked already have callbacks until {!discard}. The recording goes on. *)

val discard : t -> unit
(** As [Gc.Memprof.discard]. *)

(* SPDX-License-Identifier: MIT *)
