(* Gc.Memprof and Winnow.Memprof behind one interface: OCaml 4, in which stop discards. *)
module type MEMPROF = sig
  type profile

  val start : sampling_rate:float -> ?callstack_size:int -> ('minor, 'major) Gc.Memprof.tracker -> profile
  val stop : unit -> unit
  val discard : profile -> unit
end

module Runtime : MEMPROF = struct
  type profile = unit

  include Gc.Memprof

  let discard = ignore
end

module Shared : MEMPROF = struct
  type profile = unit

  include Winnow.Memprof

  let discard = ignore
end

let spawn_and_join actions = List.iter (fun action -> action ()) actions
let has_domains = false
