(* By -no-alias-deps a program that does not use this module is linked without it: see Winnow_sharing.expect_own. *)
module Memprof = Winnow_memprof

type recorder = private int (* an address of winnow_stubs.c *)

(* The functions of winnow_stubs.c, which says what they mean. *)
external open_trace : string option -> string option -> float option -> int option -> (recorder * float * int) option
  = "winnow_open"

external define : recorder -> Printexc.raw_backtrace_entry -> (string * string * int * int * int) array -> bool -> bool
  = "winnow_define" [@@noalloc]

external alloc : recorder -> int -> Gc.Memprof.allocation -> int = "winnow_alloc" [@@noalloc]
external promote : recorder -> int -> bool -> unit = "winnow_promote" [@@noalloc]
external free : recorder -> int -> unit = "winnow_free" [@@noalloc]
external is_child : recorder -> bool = "winnow_is_child" [@@noalloc]
external heap : recorder -> float -> float -> float -> int * int * int * int * bool -> unit = "winnow_heap" [@@noalloc]
external external_samples : (int[@untagged]) -> (int[@untagged]) = "winnow_external_samples_boxed" "winnow_external_samples"
  [@@noalloc]

external external_free : int -> unit = "winnow_external_free" [@@noalloc]
external close : recorder -> unit = "winnow_close"

type t = { recorder : recorder; callstack_size : int; alarm : Gc.alarm; stop_sampling : unit -> unit; mutable has_ended : bool }

(* The trace that is being recorded. *)
let current : t option ref = ref None

(* ---- callstacks ---- *)

let unknown = ("?", "", 0, -1, -1)

(* The names of modules as the program has them: "Stdlib.List" for Stdlib__List, and "Main" for Dune__exe__Main. *)
let readable name =
  let rec parts from at =
    if at + 1 >= String.length name || name.[at] = '.' then [ String.sub name from (String.length name - from) ]
    else if at > from && name.[at] = '_' && name.[at + 1] = '_' then String.sub name from (at - from) :: parts (at + 2) (at + 2)
    else parts from (at + 1)
  in
  match parts 0 0 with
  | "Dune" :: "exe" :: (_ :: _ as own) -> String.concat "." own
  | [ _ ] -> name
  | library :: others -> String.concat "." (library :: List.map String.capitalize_ascii others)
  | [] -> name

(* What the library itself allocates is not recorded. *)
let is_of_library (function_name, _, _, _, _) =
  let compilation_unit = List.hd (String.split_on_char '.' function_name) in
  List.mem compilation_unit [ "Winnow"; "Winnow_memprof"; "Winnow_sharing"; "Winnow_sampling"; "Winnow_table" ]

let place slot =
  let function_name = readable (Option.value (Printexc.Slot.name slot) ~default:"?") in
  match Printexc.Slot.location slot with
  | None -> (function_name, "", 0, -1, -1)
  | Some { filename; line_number; start_char; end_char } -> (function_name, filename, line_number, start_char, end_char)

(* What a code stands for, innermost first: more than one place where functions are inlined. The outermost frame is that of the
   runtime, which called the program, and has no name. *)
let places entry ~is_outermost =
  match Printexc.backtrace_slots_of_raw_entry entry with
  | None | Some [||] -> if is_outermost then [||] else [| unknown |]
  | Some slots -> Array.map place slots

(* ---- callbacks ---- *)

(* Bits of a kind, as in winnow_stubs.c. *)
let major = 1
let external_ = 2
let alone = 4

(* A child of fork does not own the trace, and need not sample. *)
let stop_in_child recorder =
  if is_child recorder then Option.iter (fun trace -> trace.stop_sampling ()) !current

let rec born recorder kind (info : Gc.Memprof.allocation) =
  match alloc recorder kind info with
  | 0 ->
      stop_in_child recorder;
      0
  | block when block > 0 -> block
  | undefined -> if Winnow_sharing.counting (define_code recorder info) (-1 - undefined) then born recorder kind info else 0

and define_code recorder info i =
  let entries = Printexc.raw_backtrace_entries info.callstack in
  let is_outermost = i = Array.length entries - 1 in
  let places = places entries.(i) ~is_outermost in
  define recorder entries.(i) places (Array.exists is_of_library places)

let tracker recorder : (int, int) Gc.Memprof.tracker =
  let born kind info = match born recorder kind info with 0 -> None | block -> Some block in
  {
    alloc_minor = born 0;
    alloc_major = born major;
    promote =
      (fun block ->
        promote recorder block false;
        Some block);
    dealloc_minor = free recorder;
    dealloc_major = free recorder;
  }

let direct recorder : Winnow_sharing.direct =
  {
    alloc_minor = (fun info -> born recorder alone info);
    alloc_major = (fun info -> born recorder (alone + major) info);
    promote = (fun block -> promote recorder block true);
    dealloc = (fun block -> free recorder block);
  }

(* When recording begins and ends, and at the end of each cycle of the major heap. *)
let tell_heap recorder ~cycle_ended =
  let stat = Gc.quick_stat () in
  heap recorder (stat.minor_words +. Winnow_sampling.uncounted_words ()) stat.promoted_words stat.major_words
    (stat.minor_collections, stat.major_collections, stat.heap_words, 1, cycle_ended)

(* ---- shared ---- *)

let end_sampling recorder client () =
  tell_heap recorder ~cycle_ended:false;
  let records = Winnow_sharing.records_here client in
  try
    Winnow_sharing.stop client;
    Winnow_sharing.discard client
  with Failure _ ->
    if records && not (is_child recorder) then
      prerr_endline
        "winnow: the trace lacks what followed when the program called Gc.Memprof.stop, which ended the recording's profile; use \
         Winnow.Memprof in its place"

let end_trace trace =
  current := None;
  Gc.delete_alarm trace.alarm;
  trace.stop_sampling ();
  close trace.recorder

(* A callback of the program may raise while pending callbacks run. *)
let stop trace =
  if not trace.has_ended then (
    trace.has_ended <- true;
    Fun.protect Winnow_sampling.run_pending ~finally:(fun () -> end_trace trace))

let yield recorder () =
  match !current with
  | Some trace when trace.recorder == recorder ->
      if not (is_child recorder) then
        prerr_endline
          "winnow: the trace ends here, since the program begins a profile with a larger rate or larger callstacks; give its rate as \
           memprof_rate when the recording begins, and both go on";
      stop trace
  | _ -> ()

(* The exit functions of the standard library, and of what began before the recording, are not recorded. *)
let watch_exit =
  let rest = lazy (at_exit (fun () -> Option.iter (fun trace -> trace.stop_sampling ()) !current)) in
  fun () -> Lazy.force rest

let record ?memprof_rate (recorder, sampling_rate, callstack_size) =
  let client () =
    Winnow_sharing.start Recording ~sampling_rate ~callstack_size ?largest_rate:memprof_rate ~yield:(yield recorder)
      ~direct:(direct recorder) (tracker recorder)
  in
  watch_exit ();
  match client () with
  | client ->
      tell_heap recorder ~cycle_ended:false;
      let alarm = Gc.create_alarm (fun () -> tell_heap recorder ~cycle_ended:true) in
      let trace = { recorder; callstack_size; alarm; stop_sampling = end_sampling recorder client; has_ended = false } in
      current := Some trace;
      trace
  | exception error ->
      close recorder;
      raise error

let start ?context ?sampling_rate ?callstack_size ?memprof_rate path =
  if !current <> None then failwith "Winnow.start: a trace is being recorded";
  record ?memprof_rate (Option.get (open_trace (Some path) context sampling_rate callstack_size))

let trace_if_requested ?context ?sampling_rate ?memprof_rate () =
  if !current = None then
    match open_trace None context sampling_rate None with
    | exception (Failure reason | Invalid_argument reason) -> prerr_endline ("winnow: no trace is written: " ^ reason)
    | None -> ()
    | Some opened -> (
        match record ?memprof_rate opened with
        | _ -> ()
        | exception (Failure reason | Invalid_argument reason) -> prerr_endline ("winnow: the trace stays empty: " ^ reason))

(* ---- memory outside the heap ---- *)

module External = struct
  type token = int

  (* Frames of the library are left out. *)
  let[@inline never] sampled bytes n_samples =
    match !current with
    | None -> 0
    | Some { recorder; callstack_size; _ } ->
        let callstack = Printexc.get_callstack (max callstack_size (callstack_size + 1)) in
        born recorder external_ (Winnow_sharing.allocation ~n_samples ~size:bytes callstack)

  let[@inline never] alloc ~bytes =
    match external_samples bytes with
    | 0 -> 0
    | n_samples -> (sampled [@tailcall]) bytes n_samples

  let[@inline] free token = if token <> 0 then external_free token
end

(* ---- snapshots ---- *)

external units : unit -> (string * Digest.t option * Digest.t option * string list) list = "winnow_units"
external take : string -> string array -> unit = "winnow_snapshot"

(* The names of the modules of a native program, in the order of the runtime's table: as Dynlink reads them. *)
let modules () = Array.of_list (List.map readable (List.concat_map (fun (_, _, _, symbols) -> symbols) (units ())))

let snapshot path = take path (modules ())

(* SPDX-License-Identifier: MIT *)
