(* Memory outside the heap, of which the program tells: in two threads 20,000 blocks of 40 to 76 bytes each, of which half stay; 10 blocks
   of 1 MB that stay; what no trace has; and tokens of a trace that has ended. *)
module External = Winnow.External

(* So a function that calls `alloc` stays on the stack, also in bytecode. *)
let calls = ref 0

let[@inline] not_last token =
  incr calls;
  token

let[@inline never] small i = not_last (External.alloc ~bytes:(40 + (i mod 37)))
let[@inline never] large () = not_last (External.alloc ~bytes:1_000_001)

let work () =
  let told = Array.init 20_000 small in
  Array.iteri (fun i token -> if i land 1 = 0 then External.free token) told;
  Thread.yield ()

let[@inline never] earlier () = not_last (External.alloc ~bytes:80)
let[@inline never] later () = not_last (External.alloc ~bytes:160)

let () =
  let path name = Filename.concat Sys.argv.(1) name in
  External.free (External.alloc ~bytes:1_000_000_000);
  let rare = Winnow.start ~sampling_rate:1e-9 (path "rare.trace") in
  ignore (External.alloc ~bytes:8);
  Winnow.stop rare;
  let first = Winnow.start ~sampling_rate:1.0 (path "first.trace") in
  let tokens = List.init 50 (fun _ -> earlier ()) in
  ignore (External.alloc ~bytes:0);
  ignore (External.alloc ~bytes:(-1));
  Winnow.stop first;
  ignore (External.alloc ~bytes:1_000_000_000);
  let second = Winnow.start ~sampling_rate:1.0 ~callstack_size:2 (path "second.trace") in
  let kept = List.init 50 (fun _ -> later ()) in
  List.iter External.free tokens;
  List.iteri (fun i token -> if i < 20 then External.free token) kept;
  Winnow.stop second;
  let third = Winnow.start ~sampling_rate:0.02 (path "third.trace") in
  let threads = List.init 2 (fun _ -> Thread.create work ()) in
  List.iter Thread.join threads;
  let larges = List.init 10 (fun _ -> large ()) in
  Winnow.stop third;
  List.iter External.free larges
