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

(* The domains end when all have done their work. While a domain ends, OCaml 5.3 hands its samples over to the others, but it may
   already be left out when these end a cycle of the major heap: then it looks for the blocks that died in that cycle in memory that
   it has freed, and tells their deaths later or never. *)
let spawn_and_join actions =
  let lock = Mutex.create () and all_done = Condition.create () and at_work = ref (List.length actions) in
  let run action () =
    action ();
    Mutex.protect lock (fun () ->
        decr at_work;
        if !at_work = 0 then Condition.broadcast all_done;
        while !at_work > 0 do
          Condition.wait all_done lock
        done)
  in
  List.iter Domain.join (List.map (fun action -> Domain.spawn (run action)) actions)

let has_domains = true
