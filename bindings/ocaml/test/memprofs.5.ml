(* Gc.Memprof and Winnow.Memprof behind one interface: OCaml 5. *)
module type MEMPROF = sig
  type profile

  val start : sampling_rate:float -> ?callstack_size:int -> ('minor, 'major) Gc.Memprof.tracker -> profile
  val stop : unit -> unit
  val discard : profile -> unit
end

module Runtime : MEMPROF = struct
  type profile = Gc.Memprof.t

  include Gc.Memprof
end

module Shared : MEMPROF = struct
  type profile = Winnow.Memprof.t

  include Winnow.Memprof
end

let spawn_and_join actions = List.iter Domain.join (List.map Domain.spawn actions)
let has_domains = true
