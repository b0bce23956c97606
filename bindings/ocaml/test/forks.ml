(* A child of fork records nothing, and leaves the trace to its parent. *)
let () = Winnow.trace_if_requested ()
let[@inline never] in_child () = Bytes.create 100_000
let[@inline never] in_parent () = Bytes.create 50_000

let () =
  match Unix.fork () with
  | 0 ->
      for _ = 1 to 1000 do
        ignore (Sys.opaque_identity (in_child ()))
      done;
      exit 5
  | child ->
      if Unix.waitpid [] child <> (child, Unix.WEXITED 5) then exit 1;
      for _ = 1 to 100 do
        ignore (Sys.opaque_identity (in_parent ()))
      done;
      (* A program that this one starts does not write over the trace. *)
      if Array.length Sys.argv = 1 then
        match Unix.fork () with
        | 0 -> Unix.execv Sys.executable_name [| Sys.executable_name; "again" |]
        | child -> if Unix.waitpid [] child <> (child, Unix.WEXITED 0) then exit 1
