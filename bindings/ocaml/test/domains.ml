(* Four domains allocate 300 lists of 1000 each, and tell of 10,000 blocks of 72 bytes outside the heap, which the first one frees. *)
let () = Winnow.trace_if_requested ()
let rec make n = if n = 0 then [] else n :: make (n - 1)

let work () =
  for _ = 1 to 300 do
    ignore (Sys.opaque_identity (make 1000))
  done;
  Array.init 10_000 (fun _ -> Sys.opaque_identity (Winnow.External.alloc ~bytes:72))

let () =
  let domains = List.init 3 (fun _ -> Domain.spawn work) in
  let own = work () in
  let all = Array.concat (own :: List.map Domain.join domains) in
  Array.iter Winnow.External.free all
