(* Values with numbers, for any thread and domain. The profile of Gc.Memprof is given the numbers: OCaml 5.3 can lose what callbacks
   return if it is a block of the heap and there are several domains, and cannot lose an integer. *)

type 'a t

(* The argument stands where there is no value. *)
val create : 'a -> 'a t
val put : 'a t -> 'a -> int

(* The value of a number, which is free afterwards. *)
val take : 'a t -> int -> 'a

(* SPDX-License-Identifier: MIT *)
