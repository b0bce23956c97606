(** Records where the memory of an OCaml program goes, in a trace that [winnow report], [winnow html] and [winnow view] read.

    {[
      let () = Winnow.trace_if_requested ~context:"nightly build" ()
    ]}

    at the top of a program, and then

    {v
      $ WINNOW_TRACE=run.trace ./program
      $ winnow report run.trace
    v}

    The runtime samples the words that the program allocates, with [Gc.Memprof], and this library writes what happens to each
    sampled block to the trace: birth with callstack, promotion, and death. It needs OCaml 4.12 to 4.14, or 5.3 or later; in between
    the runtime cannot sample.

    A program has one profile of [Gc.Memprof] at a time. So a program that uses [Gc.Memprof] itself uses {!Memprof} in its place, and
    can do so while it records. In OCaml 5 the domain that begins to record and those that it spawns afterwards are recorded. All threads of these domains are. *)

val trace_if_requested : ?context:string -> ?sampling_rate:float -> ?memprof_rate:float -> unit -> unit
(** Records from now on to the exit of the program, if the environment variable WINNOW_TRACE names a file. Programs that this one
    starts do not see the variable, so that they write nothing over the trace. In a child of [Unix.fork] recording ends: the trace
    is the parent's.

    [context] says what this run is about. [sampling_rate] is the probability that a word is sampled; WINNOW_RATE comes before it,
    and without both it is 1e-4. WINNOW_DEPTH is the largest number of frames of a callstack, 512 without it.

    [memprof_rate] is the largest rate with which the program calls {!Memprof.start} while it records. All words are then sampled with
    that rate, if it is the larger one; the trace keeps the samples that it would have without. A recording that was not told can
    end when the program asks for a larger rate: see {!Memprof}.

    What this library itself allocates is not recorded, nor what is allocated by exit functions that were registered before the
    recording began, as those of the standard library are.

    Never raises: if there can be no trace, the reason is printed to standard error, and the program goes on. Does nothing if a
    trace is being recorded. *)

type t
(** A trace that is being recorded. *)

val start :
  ?context:string -> ?sampling_rate:float -> ?callstack_size:int -> ?memprof_rate:float -> string -> t
(** Records to a file from now on, until {!stop} or the exit of the program. A file that is there is overwritten if it is a trace.
    @raise Failure if the file cannot be written, a trace is being recorded, or the program is being profiled: by [Gc.Memprof], or by
    {!Memprof} with a smaller rate or smaller callstacks than this trace needs, in OCaml 4 or with several domains. *)

val stop : t -> unit
(** Ends the trace. Does nothing if it has ended. The program's own profile goes on. In OCaml 5: called in the domain that started, or in one that it spawned. *)

(** Memory outside the heap, such as that of a C library, of which the program tells the recording. *)
module External : sig
  type token [@@immediate]
  (** A block, or nothing. *)

  val alloc : bytes:int -> token
  (** The program allocated a block of so many bytes. Each word of it is sampled with the rate of the recording, by counting down; most
      calls do no more. Without a recording nothing is sampled. In any thread and domain. The report has these blocks by the callstack
      of this call, and tells them apart: [source = external]. *)

  val free : token -> unit
  (** The block was freed, once, by any thread or domain. Does nothing if it was not sampled, or if its trace has ended. *)
end

val snapshot : string -> unit
(** Writes a snapshot of the heap to a file: every block that a root leads to, and what it leads to, without contents.
    [winnow heap FILE] then says what the values of each module and the stacks hold, and [winnow view FILE] draws it. OCaml code has
    no names of values and types at run time: a value is ["Cache, value 3"], the third one that the module defines, and a
    block is ["2 fields"]. All domains stop until the roots are known and the process has a copy of itself, which writes the file while
    the program goes on; the calling thread waits for it. In OCaml 5 what finalisers hold is told as held by stacks, and
    data of ephemerons whose domain has ended are left out.
    @raise Failure if the file cannot be written. *)

module Memprof = Winnow_memprof
(** [Gc.Memprof], for a program that may be recorded at the same time. *)

(* SPDX-License-Identifier: MIT *)
