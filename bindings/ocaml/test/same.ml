(* Programs with a profile of their own. Each prints what its tracker was told, which must not depend on whether Winnow or the
   program has the profile.
     same runtime PROGRAM                     with Gc.Memprof
     same shared PROGRAM                      with Winnow.Memprof
     same FROM,TO,RATE PROGRAM TRACE          the same, recorded between two of the points that the program passes (see `at`)
     same list                                prints the names of the programs *)
open Memprofs

let how = Sys.argv.(1)
let memprof = if how = "runtime" then (module Runtime : MEMPROF) else (module Shared : MEMPROF)

module M = (val memprof)

(* ---- the recording ---- *)

let from, until, rate = try Scanf.sscanf how "%d,%d,%f" (fun from until rate -> (from, until, rate)) with _ -> (-1, -1, 0.0)
let recording = ref None

(* The program passes the points 0 to 4: before start, after it, in the middle, before stop, and at the end. *)
let at point =
  if point = from && !recording = None then recording := Some (Winnow.start ~sampling_rate:rate Sys.argv.(3));
  if point = until then Option.iter Winnow.stop !recording

(* ---- what the tracker was told ---- *)

let sizes = [| 41; 42; 43; 44; 45; 1000; 1001; 5000 |]
let events = [| "born young"; "born old"; "promoted"; "died young"; "died old"; "samples" |]
let told = Array.map (fun _ -> Array.map (fun _ -> Atomic.make 0) events) sizes

let index size =
  let rec search i = if i = Array.length sizes then -1 else if sizes.(i) = size then i else search (i + 1) in
  search 0

let tell ?(n = 1) i event = ignore (Atomic.fetch_and_add told.(i).(event) n)

let counting : (int, int) Gc.Memprof.tracker =
  let born event (info : Gc.Memprof.allocation) =
    match index info.size with
    | -1 -> None
    | i ->
        tell i event;
        tell ~n:info.n_samples i 5;
        Some i
  in
  {
    alloc_minor = born 0;
    alloc_major = born 1;
    promote =
      (fun i ->
        tell i 2;
        Some i);
    dealloc_minor = (fun i -> tell i 3);
    dealloc_major = (fun i -> tell i 4);
  }

let print () =
  Array.iteri
    (fun i counts ->
      Array.iteri (fun event count -> if Atomic.get count > 0 then Printf.printf "%d %s: %d\n" sizes.(i) events.(event) (Atomic.get count)) counts)
    told

let say = print_endline

(* ---- what the programs do ---- *)

let[@inline never] block words = Sys.opaque_identity (Bytes.create ((words * 8) - 1))
let start ?(rate = 1.0) ?callstack_size tracker = M.start ~sampling_rate:rate ?callstack_size tracker

let collect () =
  Gc.full_major ();
  Gc.full_major ()

(* N blocks, of which half are promoted; those that stay are returned. With `promptly` callbacks run before the next block. *)
let work ?(n = 1000) ?(promptly = false) words =
  let kept = ref [] in
  for i = 1 to n do
    let value = block words in
    if promptly then Gc.minor ();
    if i mod 2 = 0 then kept := value :: !kept
  done;
  Gc.minor ();
  !kept

let name_of = function
  | Failure reason -> "Failure " ^ reason
  | Invalid_argument reason -> "Invalid_argument " ^ reason
  | other -> Printexc.to_string other

let attempt what action = match action () with _ -> say (what ^ ": done") | exception error -> say (what ^ ": " ^ name_of error)

exception Mine

let simple () =
  at 0;
  let profile = start counting in
  at 1;
  ignore (Sys.opaque_identity (work 41));
  at 2;
  ignore (Sys.opaque_identity (work 1000));
  collect ();
  at 3;
  M.stop ();
  ignore (Sys.opaque_identity (work 42));
  M.discard profile;
  at 4

(* The default profile of a program: whole callstacks, of any depth. *)
let deep () =
  let deepest = ref 0 in
  let born (info : Gc.Memprof.allocation) =
    if info.size = 41 then deepest := max !deepest (Printexc.raw_backtrace_length info.callstack);
    None
  in
  let rec down n = if n = 0 then ignore (block 41) else (down (n - 1); ignore (Sys.opaque_identity n)) in
  let look ?callstack_size () =
    deepest := 0;
    ignore (start ?callstack_size { counting with alloc_minor = born });
    at 1;
    down 3000;
    Gc.minor ();
    at 3;
    M.stop ();
    say (if !deepest > 3000 then "whole callstacks" else Printf.sprintf "%d frames" !deepest)
  in
  at 0;
  look ();
  at 2;
  look ~callstack_size:700 ();
  look ~callstack_size:5 ();
  look ~callstack_size:0 ();
  at 4

let threads () =
  at 0;
  let profile = start counting in
  at 1;
  let run words () =
    for _ = 1 to 20 do
      ignore (Sys.opaque_identity (work ~n:100 words));
      Thread.yield ()
    done
  in
  List.iter Thread.join (List.map (fun words -> Thread.create (run words) ()) [ 41; 42; 43; 1000 ]);
  at 2;
  List.iter Thread.join (List.map (fun words -> Thread.create (run words) ()) [ 44; 45; 1001 ]);
  collect ();
  at 3;
  M.stop ();
  M.discard profile;
  at 4

(* Blocks of domains that have ended die later. *)
let domains () =
  at 0;
  let profile = start counting in
  at 1;
  let kept = Array.make 3 [] in
  let run i words () =
    for _ = 1 to 10 do
      ignore (Sys.opaque_identity (work ~n:100 words))
    done;
    kept.(i) <- work words
  in
  spawn_and_join [ run 0 41; run 1 42; run 2 1000 ];
  ignore (Sys.opaque_identity (work 43));
  Array.fill kept 0 3 [];
  at 2;
  spawn_and_join [ run 0 44; run 1 45 ];
  collect ();
  Array.fill kept 0 3 [];
  collect ();
  at 3;
  M.stop ();
  M.discard profile;
  at 4

(* A domain's profile is that of the domains that it spawns, and of no other. *)
let domains_of_one () =
  at 0;
  at 1;
  spawn_and_join
    [
      (fun () ->
        let profile = start counting in
        spawn_and_join [ (fun () -> ignore (Sys.opaque_identity (work 41))) ];
        ignore (Sys.opaque_identity (work 42));
        M.stop ();
        M.discard profile);
    ];
  at 2;
  ignore (Sys.opaque_identity (work 43));
  at 3;
  at 4

(* stop in a domain that has inherited the profile. *)
let domains_stop () =
  at 0;
  let profile = start counting in
  at 1;
  spawn_and_join
    [
      (fun () ->
        ignore (Sys.opaque_identity (work 41));
        M.stop ();
        ignore (Sys.opaque_identity (work 42)));
    ];
  at 2;
  ignore (Sys.opaque_identity (work 43));
  attempt "stop" M.stop;
  collect ();
  at 3;
  M.discard profile;
  at 4

let discard () =
  at 0;
  let profile = start counting in
  at 1;
  let first = ref (work 41) and second = ref (work 42) and third = ref (work 1000) in
  at 2;
  collect ();
  M.stop ();
  at 3;
  first := [];
  collect ();
  M.discard profile;
  second := [];
  collect ();
  let profile = start counting in
  third := [];
  ignore (Sys.opaque_identity (work 43));
  collect ();
  M.stop ();
  M.discard profile;
  ignore (Sys.opaque_identity (first, second, third));
  at 4

(* An exception of each callback, at most one of each `trying`: pending callbacks may run wherever there is a poll point. *)
let raising () =
  let caught = ref 0 and armed = ref false and turn = ref 0 in
  let trying action =
    try
      armed := true;
      action ();
      armed := false
    with Mine -> incr caught
  in
  let maybe wanted i =
    if i = index wanted then (
      incr turn;
      if !turn mod 3 = 0 && !armed then (
        armed := false;
        raise Mine))
  in
  let tracker : (int, int) Gc.Memprof.tracker =
    {
      alloc_minor =
        (fun info ->
          maybe 41 (index info.size);
          counting.alloc_minor info);
      alloc_major =
        (fun info ->
          maybe 1000 (index info.size);
          counting.alloc_major info);
      promote =
        (fun i ->
          maybe 42 i;
          counting.promote i);
      dealloc_minor =
        (fun i ->
          counting.dealloc_minor i;
          maybe 43 i);
      dealloc_major =
        (fun i ->
          counting.dealloc_major i;
          maybe 44 i);
    }
  in
  at 0;
  let profile = start tracker in
  at 1;
  let kept = ref [] in
  let one words () =
    let value = block words in
    kept := value :: !kept
  in
  let several words =
    for i = 1 to 90 do
      trying (fun () ->
          one words ();
          Gc.minor ());
      if i mod 2 = 0 then kept := []
    done;
    for _ = 1 to 90 do
      trying Gc.minor
    done;
    kept := [];
    for _ = 1 to 90 do
      trying Gc.full_major
    done
  in
  List.iter several [ 41; 42 ];
  at 2;
  List.iter several [ 43; 44; 1000 ];
  at 3;
  M.stop ();
  M.discard profile;
  at 4;
  Printf.printf "caught: %b\n" (!caught > 80)

(* stop raises what a callback of a block that waits for it raises, and can be called again. In OCaml 4 it drops such callbacks. *)
let raising_in_stop () =
  at 0;
  let profile = start { counting with alloc_major = (fun info -> if info.size = 5000 then raise Mine else None) } in
  at 1;
  let late = try ignore (block 5000); false with Mine -> true in
  if not late then attempt "stop" M.stop;
  at 2;
  ignore (Sys.opaque_identity (work 41));
  attempt "stop again" M.stop;
  at 3;
  attempt "discard" (fun () -> M.discard profile);
  at 4

let wrong () =
  at 0;
  attempt "stop before start" M.stop;
  attempt "rate" (fun () -> start ~rate:1.5 counting);
  attempt "no rate" (fun () -> start ~rate:nan counting);
  attempt "depth" (fun () -> start ~callstack_size:(-1) counting);
  let profile = start counting in
  at 1;
  attempt "start twice" (fun () -> start counting);
  attempt "discard before stop" (fun () -> if has_domains then M.discard profile else failwith "Gc.Memprof.discard: profile not stopped.");
  at 2;
  attempt "stop" M.stop;
  attempt "stop twice" M.stop;
  at 3;
  attempt "discard" (fun () -> M.discard profile);
  attempt "discard twice" (fun () -> if has_domains then M.discard profile else failwith "Gc.Memprof.discard: profile already discarded.");
  attempt "start again" (fun () -> start counting);
  attempt "stop again" M.stop;
  at 4

(* The tracker stops its profile in one callback, and begins another one there or later. *)
let in_callbacks () =
  let first_call = ref true in
  let once action =
    if !first_call then (
      first_call := false;
      action ())
  in
  let quiet = { counting with alloc_minor = (fun _ -> None) } in
  let round name (tracker : (int, int) Gc.Memprof.tracker) words =
    first_call := true;
    let profile = start tracker in
    at 1;
    let kept = work ~n:100 ~promptly:true words in
    ignore (Sys.opaque_identity kept);
    collect ();
    at 3;
    attempt (name ^ ": stop") M.stop;
    attempt (name ^ ": discard") (fun () -> M.discard profile)
  in
  at 0;
  round "stop in a birth"
    { counting with alloc_minor = (fun info -> if info.size = 41 then once M.stop; None) } 41;
  round "stop and start in a birth"
    {
      counting with
      alloc_minor =
        (fun info ->
          if info.size = 41 then
            once (fun () ->
                M.stop ();
                ignore (start { quiet with alloc_minor = counting.alloc_minor }));
          None);
    }
    41;
  at 2;
  round "stop in a promotion"
    {
      counting with
      promote =
        (fun i ->
          if i = index 42 then once M.stop;
          None);
    }
    42;
  round "stop and start in a death"
    {
      counting with
      dealloc_minor =
        (fun i ->
          if i = index 43 then
            once (fun () ->
                M.stop ();
                ignore (start quiet)));
    }
    43;
  at 4

let programs =
  [
    ("simple", simple);
    ("deep", deep);
    ("threads", threads);
    ("discard", discard);
    ("raising", raising);
    ("wrong", wrong);
    ("in_callbacks", in_callbacks);
  ]
  @ if has_domains then [ ("raising_in_stop", raising_in_stop); ("domains", domains); ("domains_of_one", domains_of_one); ("domains_stop", domains_stop) ] else []

let () =
  if how = "list" then List.iter (fun (name, _) -> say name) programs
  else (
    List.assoc Sys.argv.(2) programs ();
    print ())
