(* 200 lists of 1000 that die, 100 byte blocks of 10,000 bytes that stay, 100 values that Marshal reads, and 100 bigarrays of
   100,000 bytes. *)
let () = Winnow.trace_if_requested ~context:"lists and blocks" ~sampling_rate:0.25 ()
let kept = ref []
let rec make n = if n = 0 then [] else n :: make (n - 1)
let[@inline never] leak () = kept := Bytes.create 10_000 :: !kept
let message = Marshal.to_string (make 100) []
let[@inline never] read () : int list = Marshal.from_string message 0
let[@inline never] map () = Bigarray.(Array1.create char c_layout 100_000)

let () =
  for i = 1 to 200 do
    ignore (Sys.opaque_identity (make 1000));
    if i mod 2 = 0 then (
      leak ();
      ignore (Sys.opaque_identity (read ()));
      ignore (Sys.opaque_identity (map ())))
  done;
  Gc.full_major ();
  exit 3
