(* One profile of Gc.Memprof for the recording and for the program's own tracker, the two clients that a domain can have.

   THINNING. The profile samples each word with one rate, which is at least that of each client. Each sample is a client's with the
   probability client's rate / profile's rate, independently of all others. So the samples of a client are distributed as if the
   client had a profile alone: a binomial number, thinned by coins, is a binomial number. A client whose number is 0 is not called.

   FIXED. The rate and the depth of a profile do not change while it has a client that samples: OCaml 4 would forget the tracked
   blocks of the other client, and OCaml 5 would end sampling in the other domains. So a client that needs more is refused. *)

type role = Recording | Own
type client

val start :
  role ->
  sampling_rate:float ->
  callstack_size:int ->
  ?largest_rate:float ->
  ('minor, 'major) Gc.Memprof.tracker ->
  client
(* The client of this domain and of those that it spawns. It joins the profile that is under way here, or begins one. With
   `largest_rate` a profile that it begins has at least that rate, and callstacks of any depth. The tracker of the recording raises
   nothing. Raises Failure if the role is taken here or the client is refused; Invalid_argument as Gc.Memprof.start does. *)

val own : unit -> client
(* The client of the program in this domain that samples. Raises what Gc.Memprof.stop raises if there is none. *)

val stop : client -> unit
(* Ends its samples in all domains, and the profile's if it is the last client that samples. Raises as `own` if it has ended. *)

val discard : client -> unit
(* Ends the callbacks of a stopped client. Raises as Gc.Memprof.discard does. *)

(* SPDX-License-Identifier: MIT *)
