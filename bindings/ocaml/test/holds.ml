(* What module values, a stack, an ephemeron, a closure and a bigarray hold, as a snapshot. The bytes of each are printed, counted
   by Obj.reachable_words, which counts no headers of static data. *)
let log : string list ref = ref []
let table : (int, int list) Hashtbl.t = Hashtbl.create 16

let visit n =
  log := ("visit number " ^ string_of_int n) :: !log;
  if n mod 4 = 0 then Hashtbl.replace table n [ n; n; n ]

let keys = Array.init 2 (fun i -> ref (string_of_int i))
let data = Array.init 2 (fun _ -> Obj.Ephemeron.create 1)
let closure = ref (fun () -> 0)
(* Static closures, of which the second is told by a header in the middle of a block. *)
let rec is_even n = n = 0 || is_odd (n - 1)
and is_odd n = n <> 0 && is_even (n - 1)

let odd = ref is_odd
let bytes value = 8 * Obj.reachable_words (Obj.repr value)

(* The key of the second one is dead, and old, so that no minor collection takes it out. *)
let[@inline never] fill_ephemerons () =
  Obj.Ephemeron.set_key data.(0) 0 (Obj.repr keys.(0));
  let key = ref (string_of_int 2) in
  Obj.Ephemeron.set_key data.(1) 0 (Obj.repr key);
  Gc.minor ();
  ignore (Sys.opaque_identity key);
  Array.iteri (fun i ephemeron -> Obj.Ephemeron.set_data ephemeron (Obj.repr (Array.make (1000 * (i + 1)) 1.0))) data

let () =
  for i = 1 to 20000 do visit i done;
  fill_ephemerons ();
  (let kept = Array.make 3000 (String.make 4 'k') and also = List.init 100 string_of_int in
   closure := fun () -> Array.length kept + List.length also);
  let big = Bigarray.Array1.create Bigarray.char Bigarray.c_layout 300000 in
  let parts = Array.init 10 (fun i -> Bigarray.Array1.sub big (1000 * i) 200000) in
  let on_stack = Array.make 10000 (string_of_int 1) in
  Printf.printf "%d %d %d %d\n%!" (bytes log) (bytes table) (bytes closure) (bytes on_stack);
  Winnow.snapshot Sys.argv.(1);
  ignore (Sys.opaque_identity (big, parts, on_stack));
  (* A signal handler that raises does so behind the snapshot; this one raises once for each snapshot, and nowhere else. *)
  let inside = ref false in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> if !inside then (inside := false; raise Exit)));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 1e-3; it_value = 1e-3 });
  for _ = 1 to 20 do
    try
      inside := true;
      Winnow.snapshot (Sys.argv.(1) ^ ".signal");
      inside := false
    with Exit -> ()
  done;
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0. });
  match Winnow.snapshot "/no/such/folder/holds.heap" with
  | () -> prerr_endline "a snapshot in no folder"
  | exception Failure reason -> print_endline reason
