(* Two threads allocate 300 lists of 1000 each. *)
let () = Winnow.trace_if_requested ()
let rec make n = if n = 0 then [] else n :: make (n - 1)

let work () =
  for _ = 1 to 300 do
    ignore (Sys.opaque_identity (make 1000));
    Thread.yield ()
  done

let () = List.iter Thread.join (List.init 2 (fun _ -> Thread.create work ()))
