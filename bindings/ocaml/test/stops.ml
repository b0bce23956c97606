(* Traces one after the other, and what is refused. *)
let fails action = match action () with _ -> false | exception Failure _ -> true
let[@inline never] allocate () = Bytes.create 80_000

let () =
  let folder = Sys.argv.(1) in
  let path name = Filename.concat folder name in
  assert (fails (fun () -> Winnow.start "/nowhere/at/all"));
  let first = Winnow.start ~sampling_rate:1.0 ~context:"first" (path "first.trace") in
  assert (fails (fun () -> Winnow.start (path "other.trace")));
  Winnow.trace_if_requested ();
  let kept = Array.init 10 (fun _ -> allocate ()) in
  Winnow.stop first;
  Winnow.stop first;
  ignore (Sys.opaque_identity (allocate ()));
  let second = Winnow.start ~sampling_rate:1.0 ~callstack_size:1 (path "second.trace") in
  ignore (Sys.opaque_identity (allocate ()));
  Gc.full_major ();
  Winnow.stop second;
  ignore (Sys.opaque_identity kept)
