(* Four domains allocate 300 lists of 1000 each. *)
let () = Winnow.trace_if_requested ()
let rec make n = if n = 0 then [] else n :: make (n - 1)

let work () =
  for _ = 1 to 300 do
    ignore (Sys.opaque_identity (make 1000))
  done

let () =
  let domains = List.init 3 (fun _ -> Domain.spawn work) in
  work ();
  List.iter Domain.join domains
