(* A recording and the program's own profile at the same time.
     shares FOLDER    writes traces to the folder, and says which test fails *)
module M = Winnow.Memprof

let failures = ref 0

let test name holds =
  if not holds then (
    incr failures;
    prerr_endline ("failed: " ^ name))

let trace = Filename.concat Sys.argv.(1)
let fails action = match action () with _ -> false | exception Failure _ -> true
let[@inline never] block words = Sys.opaque_identity (Bytes.create ((words * 8) - 1))
let rec make n = if n = 0 then [] else n :: make (n - 1)

(* ---- what a tracker is told ---- *)

type told = { mutable samples : int; mutable births : int; mutable moves : int; mutable young : int; mutable old : int }

let nothing () = { samples = 0; births = 0; moves = 0; young = 0; old = 0 }

(* Of the blocks of these tests; what the library itself allocates has other sizes. *)
let sizes = [ 15; 1000; 5000 ]

let counts told : (unit, unit) M.tracker =
  let born (info : M.allocation) =
    if not (List.mem info.size sizes) then None
    else (
      told.samples <- told.samples + info.n_samples;
      told.births <- told.births + 1;
      Some ())
  in
  {
    alloc_minor = born;
    alloc_major = born;
    promote =
      (fun () ->
        told.moves <- told.moves + 1;
        Some ());
    dealloc_minor = (fun () -> told.young <- told.young + 1);
    dealloc_major = (fun () -> told.old <- told.old + 1);
  }

let kept : bytes list ref = ref []

(* 20,000 small blocks, of which half are promoted and then die, and 100 blocks born in the major heap. *)
let program () =
  for i = 1 to 20_000 do
    let value = block 15 in
    if i mod 2 = 0 then kept := value :: !kept
  done;
  for _ = 1 to 100 do
    ignore (block 1000)
  done;
  Gc.minor ();
  kept := [];
  Gc.full_major ()

let run start stop =
  Gc.full_major ();
  let told = nothing () in
  start (counts told);
  program ();
  stop ();
  told

let alone = run (fun tracker -> ignore (Gc.Memprof.start ~sampling_rate:1.0 tracker)) Gc.Memprof.stop
let own rate tracker = ignore (M.start ~sampling_rate:rate tracker)

let recorded rate name action =
  let recording = Winnow.start ~sampling_rate:rate ~memprof_rate:1.0 (trace name) in
  Fun.protect action ~finally:(fun () -> Winnow.stop recording)

let () =
  test "a tracker without a recording is told what Gc.Memprof tells" (run (own 1.0) M.stop = alone);
  let both = recorded 0.25 "both.trace" (fun () -> run (own 1.0) M.stop) in
  test "a tracker beside a recording is told what Gc.Memprof tells" (both = alone);
  test "each birth is followed to its death" (both.births = both.young + both.old)

(* ---- rates ---- *)

(* Six standard deviations of a binomial number. *)
let is_near count trials rate =
  let mean = float trials *. rate in
  abs_float (float count -. mean) <= 6.0 *. sqrt (mean *. (1.0 -. rate))

let () =
  let samples rate name = (recorded 0.5 name (fun () -> run (own rate) M.stop)).samples in
  List.iter
    (fun rate -> test (Printf.sprintf "a tracker has the samples of its rate: %g" rate)
        (is_near (samples rate "rate.trace") alone.samples rate))
    [ 0.01; 0.3; 0.7; 0.99 ];
  test "a tracker of rate 0 has no samples" (samples 0.0 "rate.trace" = 0)

(* How many of 20,000 blocks of 4 words have which number of samples. *)
let () =
  let seen = Array.make 5 0 and rate = 0.3 in
  let born (info : M.allocation) =
    if info.size = 3 then seen.(info.n_samples) <- seen.(info.n_samples) + 1;
    None
  in
  recorded 0.5 "counts.trace" (fun () ->
      own rate { M.null_tracker with alloc_minor = born };
      for _ = 1 to 20_000 do
        ignore (block 3)
      done;
      Gc.minor ();
      M.stop ());
  test "no tracker is called without a sample" (seen.(0) = 0);
  List.iter
    (fun (n, ways) ->
      let chance = ways *. (rate ** float n) *. ((1.0 -. rate) ** float (4 - n)) in
      test (Printf.sprintf "the numbers of samples of a block are binomial: %d" n) (is_near seen.(n) 20_000 chance))
    [ (1, 4.0); (2, 6.0); (3, 4.0); (4, 1.0) ]

(* ---- callstacks ---- *)

let () =
  let deepest = ref 0 in
  let born (info : M.allocation) =
    deepest := max !deepest (Printexc.raw_backtrace_length info.callstack);
    None
  in
  let start ?callstack_size () = ignore (M.start ~sampling_rate:1.0 ?callstack_size { M.null_tracker with alloc_minor = born }) in
  let seen ?callstack_size () =
    deepest := 0;
    start ?callstack_size ();
    ignore (make 1000);
    Gc.minor ();
    M.stop ();
    !deepest
  in
  recorded 1.0 "depth.trace" (fun () ->
      test "a tracker has callstacks of its own depth" (seen ~callstack_size:7 () = 7);
      test "a tracker without a depth has whole callstacks" (seen () > 1000))

(* The runtime allocates a callstack for each sample, which is large here; nearly all samples are only the program's. *)
let () =
  let recording = Winnow.start ~sampling_rate:0.001 ~memprof_rate:1.0 (trace "told.trace") in
  own 1.0 M.null_tracker;
  for _ = 1 to 10 do
    ignore (Sys.opaque_identity (make 1000))
  done;
  Gc.full_major ();
  M.stop ();
  Winnow.stop recording

(* ---- exceptions ---- *)

exception Mine

let raise_in words =
  ignore (block words);
  Gc.minor ()

let raises action = match action () with _ -> false | exception Mine -> true
let raiser : (unit, unit) M.tracker = { (counts (nothing ())) with alloc_major = (fun info -> if info.size = 777 then raise Mine else None) }

let () =
  recorded 1.0 "raises.trace" (fun () ->
      own 1.0 raiser;
      test "an exception of a callback reaches the program" (raises (fun () -> raise_in 777));
      test "callbacks go on after an exception" (raises (fun () -> raise_in 777));
      M.stop ();
      test "a stopped tracker raises nothing" (not (raises (fun () -> raise_in 777))))

(* ---- orders ---- *)

let sees told = 
  let before = told.births in
  ignore (block 5000);
  Gc.minor ();
  told.births > before

let () =
  let told = nothing () in
  let start () = own 1.0 (counts told) in
  test "stop without a profile fails" (fails M.stop);
  start ();
  test "a second profile fails" (fails start);
  let recording = Winnow.start ~sampling_rate:0.5 (trace "inside.trace") in
  test "a profile goes on when a recording begins" (sees told);
  Winnow.stop recording;
  test "a profile goes on when a recording ends" (sees told);
  M.stop ();
  test "a stopped profile sees nothing" (not (sees told));
  let recording = Winnow.start ~sampling_rate:0.5 ~memprof_rate:1.0 (trace "outside.trace") in
  start ();
  M.stop ();
  test "stop during a recording ends the profile" (fails M.stop && not (sees told));
  start ();
  Winnow.stop recording;
  test "a profile that began in a recording outlives it" (sees told);
  M.stop ()

(* ---- larger rates ---- *)

(* In OCaml 5 the profile of the runtime is begun anew. In OCaml 4 the recording ends, or does not begin. *)
let restarts = Sys.ocaml_version >= "5"

let () =
  List.iter
    (fun rate ->
      let recording = Winnow.start ~sampling_rate:0.01 (trace "above.trace") in
      let told = run (own rate) M.stop in
      Winnow.stop recording;
      test (Printf.sprintf "a tracker has the samples of a rate above that of the recording: %g" rate)
        (is_near told.samples alone.samples rate))
    [ 1.0; 0.5; 0.1 ];
  List.iter
    (fun rate ->
      let recording = ref None in
      let start tracker =
        own rate tracker;
        match Winnow.start ~sampling_rate:0.5 (trace "below.trace") with
        | begun -> recording := Some begun
        | exception Failure _ -> ()
      in
      let told = run start M.stop in
      test "a recording above the rate of a profile begins in OCaml 5 alone" (!recording <> None = restarts);
      Option.iter Winnow.stop !recording;
      test (Printf.sprintf "a tracker has the samples of a rate below that of the recording: %g" rate)
        (is_near told.samples alone.samples rate))
    [ 0.01; 0.1 ]

(* What a recording follows when the profile begins anew is followed further. *)
let () =
  let recording = Winnow.start ~sampling_rate:0.9 (trace "followed.trace") in
  for _ = 1 to 100 do
    kept := block 1000 :: !kept
  done;
  own 1.0 M.null_tracker;
  kept := [];
  Gc.full_major ();
  Gc.full_major ();
  for _ = 1 to 100 do
    ignore (block 5000)
  done;
  M.stop ();
  Gc.full_major ();
  Winnow.stop recording

let () = exit (if !failures = 0 then 0 else 1)
