(* Domains that allocate while snapshots are taken, and a continuation whose stack holds an array. *)
type _ Effect.t += Pause : unit Effect.t

let paused : (unit, unit) Effect.Deep.continuation option ref = ref None
let over = Atomic.make false

let rec allocate mine =
  let list = List.init 1000 Fun.id in
  if Atomic.get over then ignore (Sys.opaque_identity (mine, list)) else allocate mine

let pause () =
  let held = Array.make 50000 (string_of_int 1) in
  Effect.perform Pause;
  ignore (Sys.opaque_identity held)

let () =
  let domains = Array.init 3 (fun i -> Domain.spawn (fun () -> allocate (Array.make 20000 (string_of_int i)))) in
  Effect.Deep.match_with pause ()
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (raised : a Effect.t) ->
          match raised with
          | Pause -> Some (fun (continuation : (a, unit) Effect.Deep.continuation) -> paused := Some continuation)
          | _ -> None);
    };
  for _ = 1 to 20 do Winnow.snapshot Sys.argv.(1) done;
  Atomic.set over true;
  Array.iter Domain.join domains;
  match !paused with Some continuation -> Effect.Deep.continue continuation () | None -> ()
