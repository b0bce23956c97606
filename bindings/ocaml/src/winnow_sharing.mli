(* One profile of Gc.Memprof for the recording and for the program's own tracker, the two clients that a domain can have.

   THINNING. The profile samples each word with one rate, which is at least that of each client. Each sample is a client's with the
   probability client's rate / profile's rate, independently of all others. So the samples of a client are distributed as if the
   client had a profile alone: a binomial number, thinned by coins, is a binomial number. A client whose number is 0 is not called.

   RESTART. The rate and the depth of a profile of the runtime do not change. A client that needs more than the profile that is
   under way has therefore begins another profile, which takes its place, and the other client goes on with that. The old profile
   is stopped but not discarded: it follows the blocks that it has sampled, for the clients that they belong to. The distance to
   the next sample is drawn anew, which changes no distribution, since that of distances has no memory. This is done where nothing
   is lost: in OCaml 5, if no other domain can have inherited the profile. OCaml 4 forgets the blocks of a stopped profile, and in
   OCaml 5 no domain can begin a profile in another one.

   YIELD. Elsewhere the program comes first: the recording stops, and the program's client begins a profile that is its own. A
   recording that needs more than the program's profile is refused. The program is refused only if another domain samples for it
   with the same profile.

   DIRECT. The recording is mostly alone, with the rate of the profile that it began. Then its blocks are the runtime's metadata by
   their own numbers, odd ones, with no entry in a table, and a callback is one call of C, which counts also what it takes to tell of
   a block. Even numbers are those of a table. *)

(* What the recording does in callbacks while it is alone. Nothing raises; what they allocate, but for the runtime's option, is
   counted by them. *)
type direct = {
  alloc_minor : Gc.Memprof.allocation -> int; (* 0: the block is not followed *)
  alloc_major : Gc.Memprof.allocation -> int;
  promote : int -> unit;
  dealloc : int -> unit;
}

type role = Recording | Own
type client

val start :
  role ->
  sampling_rate:float ->
  callstack_size:int ->
  ?largest_rate:float ->
  ?yield:(unit -> unit) ->
  ?direct:direct ->
  ('minor, 'major) Gc.Memprof.tracker ->
  client
(* The client of this domain and of those that it spawns. It joins the profile that is under way here, or begins one. With
   `largest_rate` a profile that it begins has at least that rate, and callstacks of any depth. `yield` stops the client. `direct` is for the recording. The tracker
   of the recording raises nothing, and is given callstacks that may be larger than `callstack_size`. Raises Failure if the role is
   taken here or the client is refused; Invalid_argument as Gc.Memprof.start does. *)

val expect_own : unit -> unit
(* The program has the module Winnow.Memprof, and may become a client: a recording samples callstacks of any depth from the beginning,
   since that is what Gc.Memprof does unless it is told otherwise. *)

val own : unit -> client
(* The client of the program in this domain that samples. Raises what Gc.Memprof.stop raises if there is none. *)

val records_here : client -> bool
(* Whether it is the recording of this domain, and samples. *)

val stop : client -> unit
(* Ends its samples in all domains, and the profile's if it is the last client that samples. Raises as `own` if it has ended. *)

val discard : client -> unit
(* Ends the callbacks of a stopped client. Raises as Gc.Memprof.discard does. *)

val counting : ('a -> 'b) -> 'a -> 'b
(* Calls a function, and counts what it allocates, which is not sampled. If it raises nothing is counted. *)

val allocation : n_samples:int -> size:int -> Printexc.raw_backtrace -> Gc.Memprof.allocation

(* SPDX-License-Identifier: MIT *)
