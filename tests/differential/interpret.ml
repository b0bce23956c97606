(* The interpreter of scripts on OCaml's own heap; the other one is interpret.c. README.md has the language, and the rules by which
   both write their logs. *)

exception Planned of int

type op = { name : string; a : int array; body : op list }
type moment = At_birth | At_promotion | At_death_minor | At_death_major
type what = Birth_young | Birth_old | Promotion | Death_young | Death_old | Death_somewhere | Exception

type forgotten = Keep | Late | All

(* A line of the log: what was told of a session, which is a profile from its start to its discard. A block is known by its words and
   its source, together one number. *)
type line = { mutable session : int; mutable moment : moment; mutable what : what; mutable block : int; mutable samples : int }

type action = Nothing | Refuse | Allocate | Minor | Full | Raise | Stop | Discard

(* Blocks of the script have so many words and more; smaller ones, and much larger ones, are the interpreter's own. *)
let least_words = 24
let most_words = 1024
let registers = 16
let none = Obj.repr 0

type actor = { regs : Obj.t array; mutable has_started : bool }
type profile = Unused | Started of Gc.Memprof.t * int

let sources = [| "normal"; "marshal"; "custom" |]
let sessions = ref 0
let is_clean = ref false
let is_settled = ref true
let has_young_keys = ref false
let is_disordered = ref false
let is_ordered = ref true
let profiles = Array.make 4 Unused
let shared = Array.make registers none
let shelf = Array.make registers none
let plans = Array.init 3 (fun _ -> Array.make most_words Nothing)
let blurred = Array.make most_words false
let is_ours words = words >= least_words && words < most_words

let say text = print_string text; print_char '\n'

(* ---- the log ----

   OCaml interrupts a callback or a finaliser at any safepoint by others, also by one that raises, which then ends both. So what ours
   do, unless they were told to allocate or to collect, has no safepoint: no allocation, no loop, and no call of a function that is
   recursive. What they need is made in advance. *)

let lines_most = 2_000
let new_line _ = { session = 0; moment = At_birth; what = Exception; block = 0; samples = 0 }
let told = Array.init lines_most new_line
let told_count = ref 0
let raised = Array.init lines_most new_line
let raised_count = ref 0
let surfaced_count = ref 0
let finalised = Array.make lines_most 0
let finalised_count = ref 0
let activity = ref 0
let forgotten = Array.make lines_most Keep
let metadata = Array.init (3 * most_words) (fun block -> Some block)
let exceptions = Array.init (4 * most_words) (fun number -> Planned number)

let note lines count session moment what block samples =
  let line = lines.(!count) in
  incr count;
  incr activity;
  line.session <- session;
  line.moment <- moment;
  line.what <- what;
  line.block <- block;
  line.samples <- samples

let text_of { session; what; block; samples; _ } =
  let of_block = Printf.sprintf "%s %d" sources.(block / most_words mod 3) (block mod most_words) in
  let birth heap =
    Printf.sprintf "birth %d %s %s of %d, %d samples" session heap sources.(block / most_words) (block mod most_words) samples
  in
  let death heap = Printf.sprintf "death %d %s %s" session heap of_block in
  match what with
  | Birth_young -> birth "young"
  | Birth_old -> birth "old"
  | Promotion -> Printf.sprintf "promotion %d %s" session of_block
  | Death_young -> death "young"
  | Death_old -> death "old"
  | Death_somewhere -> death "somewhere"
  | Exception -> Printf.sprintf "exception %d %d" (block / most_words) (block mod most_words)

(* ---- exceptions ---- *)

(* The number tells who raised it. *)
let raise_number kind id session moment =
  let number = (kind * most_words) + id in
  note raised raised_count session moment Exception number 0;
  raise exceptions.(number)

let attempt f =
  try f (); true
  with Planned _ -> incr activity; incr surfaced_count; false

let attempt_4 f = attempt f || attempt f || attempt f || attempt f
let attempt_16 f = attempt_4 f || attempt_4 f || attempt_4 f || attempt_4 f

(* Calls f until it raises nothing. After an exception other callbacks are still pending, so between two attempts there is no
   safepoint either. *)
let without_exception f = if not (attempt_16 f || attempt_16 f) then failwith "too many exceptions"

let allocate_little () = ignore (Sys.opaque_identity (ref 0))

(* A safepoint; returns whether anything was told. *)
let polled () =
  let before = !activity in
  without_exception allocate_little;
  !activity <> before

(* What a callback has made pending by a collection OCaml tells at any later time, or when the thread comes from a blocking section. *)
let has_collected = ref false
let block () = Unix.sleepf 0.0

let poll_twice () = polled () || polled ()
let poll_often () = ignore (poll_twice () && poll_twice () && poll_twice () && poll_twice () && poll_twice () && poll_twice ())

let poll () =
  poll_often ();
  if !has_collected then (
    has_collected := false;
    without_exception block;
    poll_often ())

let collect f =
  is_settled := false;
  without_exception f

(* OCaml's full_major collects three times, Winnow's twice at most: statement G27 promises what a second one finds. So the heap is at
   rest only when nothing more is told. *)
let settle () =
  let silent = ref 0 in
  while !silent < 2 do
    let before = !activity in
    collect Gc.full_major;
    poll ();
    silent := if !activity = before then !silent + 1 else 0
  done

(* Keys that are young and lead nowhere die in minor collections of Winnow, and not in those of OCaml: statement G54. *)
let collect_minor () =
  if !has_young_keys then is_settled := false;
  without_exception Gc.minor

(* Where callbacks raise one after the other, OCaml loses all exceptions but the last, unlike statement G41. So if one has surfaced,
   those that were raised before have, too. *)
let note_exceptions () =
  if !surfaced_count > 0 then (
    is_disordered := true;
    for i = 0 to !raised_count - 1 do
      let { session; moment; what; block; samples } = raised.(i) in
      note told told_count session moment what block samples
    done;
    raised_count := 0;
    surfaced_count := 0)

(* ---- profiles ---- *)

(* Of a session that was discarded a part of the lines since the quiet point before does not count: see README.md. *)
let is_forgotten { session; moment; _ } =
  session >= 0
  &&
  match forgotten.(session) with
  | Keep -> false
  | Late -> moment = At_death_major
  | All -> moment <> At_birth

let forget session what = if forgotten.(session) <> All then forgotten.(session) <- what
let was_sampling = ref false
let try_stop () = try Gc.Memprof.stop (); was_sampling := true with Failure _ -> was_sampling := false

let stop () =
  without_exception try_stop;
  !was_sampling

let discard_slot_of session slot =
  match profiles.(slot) with
  | Started (profile, number) when number = session -> (
      try
        Gc.Memprof.discard profile;
        profiles.(slot) <- Unused;
        forget session All
      with Failure _ -> ())
  | _ -> ()

let discard_in_callback session =
  discard_slot_of session 0;
  discard_slot_of session 1;
  discard_slot_of session 2;
  discard_slot_of session 3

let wanted_words = ref 0
let allocate_wanted () = ignore (Sys.opaque_identity (Obj.new_block 0 !wanted_words))

let allocate_words words =
  wanted_words := words;
  without_exception allocate_wanted

(* Whether something may be planned for this call. Of copies it is not known which is called first, and the births of a message are
   told before it is read. *)
let may_act kind block = block < most_words || (kind = 0 && block >= 2 * most_words)

(* Does what was planned; returns whether the block is still tracked. *)
let act session kind block moment =
  let id = block mod most_words in
  let action = if may_act kind block then plans.(kind).(id) else Nothing in
  let is_late = moment = At_death_major in
  if action <> Nothing then plans.(kind).(id) <- Nothing;
  match action with
  | Nothing -> true
  | Refuse -> false
  | Allocate -> allocate_words id; true
  | Minor -> if not is_late then (has_collected := true; collect_minor ()); true
  | Full -> if not is_late then (has_collected := true; settle ()); true
  | Stop -> if not is_late then ignore (stop ()); true
  | Discard -> if not is_late then (ignore (stop ()); discard_in_callback session); true
  | Raise -> raise_number kind id session moment

let born session what (info : Gc.Memprof.allocation) =
  if not (is_ours info.size) then None
  else
    let source = match info.source with Normal -> 0 | Marshal -> 1 | Custom -> 2 in
    let block = (source * most_words) + info.size in
    note told told_count session At_birth what block info.n_samples;
    if act session 0 block At_birth then metadata.(block) else None

let promoted session block =
  if not blurred.(block mod most_words) then note told told_count session At_promotion Promotion block 0;
  if act session 1 block At_promotion then metadata.(block) else None

let died session moment what block =
  if blurred.(block mod most_words) then note told told_count session At_death_major Death_somewhere block 0
  else (
    note told told_count session moment what block 0;
    ignore (act session 2 block moment))

let start actor slot =
  match profiles.(slot) with
  | Started _ -> ()
  | Unused -> (
      let session = !sessions in
      let tracker =
        {
          Gc.Memprof.alloc_minor = (fun info -> born session Birth_young info);
          alloc_major = (fun info -> born session Birth_old info);
          promote = (fun block -> promoted session block);
          dealloc_minor = (fun block -> died session At_death_minor Death_young block);
          dealloc_major = (fun block -> died session At_death_major Death_old block);
        }
      in
      match Gc.Memprof.start ~sampling_rate:1.0 ~callstack_size:0 tracker with
      | profile ->
          incr sessions;
          actor.has_started <- true;
          profiles.(slot) <- Started (profile, session)
      | exception Failure _ -> say "start refused")

let discard slot =
  match profiles.(slot) with
  | Unused -> ()
  | Started (profile, session) -> (
      match Gc.Memprof.discard profile with
      | () ->
          profiles.(slot) <- Unused;
          if not !is_clean then forget session Late
      | exception Failure _ -> say "discard refused")

(* ---- finalisers ---- *)

let finalise first id action place value =
  let run value =
    incr activity;
    finalised.(!finalised_count) <- (if first then id else -id);
    incr finalised_count;
    match action with
    | Refuse -> if first then shelf.(place) <- value
    | Allocate -> allocate_words id
    | Raise -> raise_number 3 id (-1) At_birth
    | Full ->
        is_disordered := true;
        settle ()
    | _ -> ()
  in
  if Obj.is_int value then say "no finaliser"
  else if first then Gc.finalise run value
  else Gc.finalise_last (fun () -> run none) value

let finalised_text n = Printf.sprintf "%s %d" (if n > 0 then "finalised" else "last") (abs n)

(* ---- blocks ---- *)

let group_24 x =
  let a = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  let b = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  let c = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  (a, b, c)

let group_27 x =
  let a = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  let b = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  let c = [| x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x; x |] in
  (a, b, c)

let group regs r least =
  let a, b, c = (if least = 24 then group_24 else group_27) (Sys.opaque_identity 0) in
  regs.(r) <- Obj.repr a;
  regs.((r + 1) mod registers) <- Obj.repr b;
  regs.((r + 2) mod registers) <- Obj.repr c

let zeroed_bytes regs r words =
  regs.(r) <- Obj.repr (Bytes.create ((words * 8) - 1));
  Bytes.fill (Obj.obj regs.(r)) 0 ((words * 8) - 1) '\000'

let zeroed_floats regs r words =
  regs.(r) <- Obj.repr (Array.create_float words);
  Array.fill (Obj.obj regs.(r)) 0 words 0.0

let has_tag tag value = Obj.is_block value && Obj.tag value = tag
let is_scanned value = Obj.is_block value && Obj.tag value < Obj.no_scan_tag
let is_weak = has_tag Obj.abstract_tag
let is_leaf value = has_tag Obj.string_tag value || has_tag Obj.double_array_tag value

let name_of value =
  if Obj.is_int value then string_of_int (Obj.obj value : int)
  else if has_tag Obj.custom_tag value then
    let array : (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t = Obj.obj value in
    Printf.sprintf "#%d" (Bigarray.Array1.dim array / 8)
  else Printf.sprintf "#%d" (Obj.size value)

let name_of_option = function None -> "-" | Some value -> name_of value

(* ---- weak arrays and ephemerons: of 2n words those with an even number are arrays ---- *)

let is_ephemeron value = Obj.size value land 1 = 1
let as_array value : Obj.t Weak.t = Obj.obj value
let as_ephemeron value : Obj.Ephemeron.t = Obj.obj value
let length value = Obj.size value - 2

let forget_plans value =
  for kind = 1 to 2 do
    plans.(kind).(Obj.size value mod most_words) <- Nothing
  done

let get_key weak i = if is_ephemeron weak then Obj.Ephemeron.get_key (as_ephemeron weak) i else Weak.get (as_array weak) i

(* A block that leads to others is old before it becomes a key: statement G54. *)
let set_key weak i value =
  if is_leaf value then (
    blurred.(Obj.size value) <- true;
    forget_plans value;
    has_young_keys := true)
  else if Obj.is_block value then collect_minor ();
  if is_ephemeron weak then Obj.Ephemeron.set_key (as_ephemeron weak) i value else Weak.set (as_array weak) i (Some value)

let unset_key weak i =
  if is_ephemeron weak then Obj.Ephemeron.unset_key (as_ephemeron weak) i else Weak.set (as_array weak) i None

let check_key weak i =
  if is_ephemeron weak then Obj.Ephemeron.check_key (as_ephemeron weak) i else Weak.check (as_array weak) i

(* Weak blocks are not copied: statement G52. A block and its copy cannot be told apart, so of neither a later callback is planned. *)
let get_copy weak i =
  let value = get_key weak i in
  match value with
  | Some value when is_weak value -> forget_plans value; Some value
  | _ ->
      Option.iter (fun value -> if Obj.is_block value then forget_plans value) value;
      if is_ephemeron weak then Obj.Ephemeron.get_key_copy (as_ephemeron weak) i else Weak.get_copy (as_array weak) i

let blit a regs =
  let from = regs.(a.(0)) and into = regs.(a.(2)) in
  if is_weak from && is_weak into then
    match (is_ephemeron from, is_ephemeron into) with
    | false, false -> Weak.blit (as_array from) a.(1) (as_array into) a.(3) a.(4)
    | true, true -> Obj.Ephemeron.blit_key (as_ephemeron from) a.(1) (as_ephemeron into) a.(3) a.(4)
    | _ -> ()

let message = Bytes.create (1 lsl 20)

(* What is pending may raise in place of Marshal. *)
let marshal regs r s =
  let is_written = ref false in
  without_exception (fun () ->
      match Marshal.to_buffer message 0 (Bytes.length message) regs.(s) [] with
      | _ -> is_written := true
      | exception (Failure _ | Invalid_argument _) -> ());
  if !is_written then regs.(r) <- Marshal.from_bytes message 0 else say "not marshalled"

(* ---- quiet points ---- *)

let tell_place i text = if text <> "0" then print_string (Printf.sprintf " %d=%s" i text)

let tell_register r value =
  if Obj.is_block value then (
    print_string (Printf.sprintf "register %d %s:" r (name_of value));
    if is_scanned value then
      for i = 0 to Obj.size value - 1 do
        tell_place i (name_of (Obj.field value i))
      done
    else if is_weak value then (
      for i = 0 to length value - 1 do
        if check_key value i then tell_place i (name_of_option (get_key value i))
      done;
      print_string (" data " ^ name_of_option (if is_ephemeron value then Obj.Ephemeron.get_data (as_ephemeron value) else None)));
    say "")

let print_sorted texts = List.iter say (List.sort String.compare texts)

(* A block may be blurred after a copy of it was told dead. *)
let blur line =
  if (line.what = Death_young || line.what = Death_old) && blurred.(line.block mod most_words) then (
    line.what <- Death_somewhere;
    line.moment <- At_death_major)

let tell actor number =
  note_exceptions ();
  Array.iteri (fun i line -> if i < !told_count then blur line) told;
  say (Printf.sprintf "quiet %d" number);
  let calls = List.init !finalised_count (fun i -> finalised_text finalised.(i)) in
  if !is_ordered && not (!has_young_keys || !is_disordered) then List.iter say calls else print_sorted calls;
  let lines = List.filter (fun line -> not (is_forgotten line)) (List.init !told_count (fun i -> told.(i))) in
  print_sorted (List.map text_of lines);
  Array.iteri tell_register actor.regs;
  told_count := 0;
  raised_count := 0;
  finalised_count := 0

let quiet actor number =
  settle ();
  is_settled := true;
  tell actor number;
  has_young_keys := false;
  is_disordered := false

(* All blocks die, and all finalisers run: in three steps, since one may put its value on the shelf. *)
let end_script actor =
  ignore (stop ());
  for number = -3 to -1 do
    Array.fill actor.regs 0 registers none;
    Array.fill shelf 0 registers none;
    quiet actor number
  done;
  is_clean := true;
  Array.iteri (fun slot _ -> discard slot) profiles

(* ---- operations ---- *)

let action_of = function
  | 1 -> Refuse
  | 2 -> Allocate
  | 3 -> Minor
  | 4 -> Full
  | 5 -> Raise
  | 6 -> Stop
  | 7 -> Discard
  | _ -> Nothing

let allocate regs name r words tag =
  match name with
  | "alloc" -> regs.(r) <- Obj.new_block tag words
  | "raw" -> zeroed_bytes regs r words
  | "floats" -> zeroed_floats regs r words
  | "bigarray" -> regs.(r) <- Obj.repr Bigarray.(Array1.create char c_layout (words * 8))
  | "weak" ->
      if words land 1 = 1 then regs.(r) <- Obj.repr (Obj.Ephemeron.create (words - 2))
      else regs.(r) <- Obj.repr (Weak.create (words - 2) : Obj.t Weak.t)
  | _ -> group regs r words

let weak_operation regs name a =
  let weak = regs.(a.(0)) in
  if is_weak weak then
    match name with
    | "key" -> set_key weak a.(1) regs.(a.(2))
    | "unkey" -> unset_key weak a.(1)
    | ("get" | "copykey" | "getdata" | "data") when not !is_settled -> ()
    | "get" -> regs.(a.(2)) <- Option.value (get_key weak a.(1)) ~default:none
    | "copykey" -> regs.(a.(2)) <- Option.value (get_copy weak a.(1)) ~default:none
    | _ when not (is_ephemeron weak) -> ()
    | "data" -> Obj.Ephemeron.set_data (as_ephemeron weak) regs.(a.(1))
    | "undata" -> Obj.Ephemeron.unset_data (as_ephemeron weak)
    | _ -> regs.(a.(1)) <- Option.value (Obj.Ephemeron.get_data (as_ephemeron weak)) ~default:none

let store regs name a =
  match name with
  | "link" -> if is_scanned regs.(a.(0)) then Obj.set_field regs.(a.(0)) a.(1) regs.(a.(2))
  | "store" -> if is_scanned regs.(a.(0)) then Obj.set_field regs.(a.(0)) a.(1) (Obj.repr a.(2))
  | "load" -> if is_scanned regs.(a.(1)) then regs.(a.(0)) <- Obj.field regs.(a.(1)) a.(2)
  | "copy" -> regs.(a.(0)) <- regs.(a.(1))
  | "integer" -> regs.(a.(0)) <- Obj.repr a.(1)
  | _ (* take *) when !is_settled ->
      regs.(a.(0)) <- shelf.(a.(1));
      shelf.(a.(1)) <- none
  | _ -> ()

let rec operate actor { name; a; body } =
  let regs = actor.regs in
  match name with
  | "alloc" | "raw" | "floats" | "bigarray" | "weak" | "group" -> allocate regs name a.(0) a.(1) a.(2)
  | "link" | "store" | "load" | "copy" | "integer" | "take" -> store regs name a
  | "key" | "unkey" | "get" | "copykey" | "data" | "undata" | "getdata" -> weak_operation regs name a
  | "blit" -> blit a regs
  | "marshal" -> marshal regs a.(0) a.(1)
  | "minor" -> collect_minor ()
  | "major" -> collect Gc.major
  | "slice" ->
      collect_minor ();
      collect (fun () -> ignore (Gc.major_slice a.(0)))
  | "full" -> settle ()
  | "compact" ->
      collect Gc.compact;
      settle ()
  | "start" -> start actor a.(0)
  | "stop" -> if not (stop ()) then say "stop refused"
  | "discard" -> discard a.(0)
  | "plan" -> plans.(a.(0)).(a.(1)) <- action_of a.(2)
  | "first" | "last" -> finalise (name = "first") a.(1) (action_of a.(2)) a.(3) regs.(a.(0))
  | "ordered" -> is_ordered := a.(0) = 1
  | "quiet" -> quiet actor a.(0)
  | "thread" -> run_thread actor body
  | "domain" ->
      collect_minor ();
      join_domain (Domain.spawn (fun () -> run_domain body))
  | "fork" -> run_in_child actor body
  | _ -> failwith name

(* A new thread may find that something is pending, though the one before it has polled. *)
and run actor ops =
  poll ();
  List.iter
    (fun op ->
      ignore (attempt (fun () -> operate actor op));
      poll ();
      match op.name with
      | "quiet" -> is_clean := true
      | "start" | "stop" | "discard" -> ()
      | _ -> is_clean := false)
    ops

(* What is pending may raise after the thread was made, and its handle is lost then. *)
and run_thread actor body =
  let thread = ref None and is_done = ref false in
  let work () =
    poll ();
    run actor body;
    is_done := true
  in
  ignore (attempt (fun () -> thread := Some (Thread.create work ())));
  without_exception (fun () ->
      while not !is_done do
        Thread.yield ()
      done);
  without_exception (fun () -> Option.iter Thread.join !thread)

(* A child does these operations, and ends the script. *)
and run_in_child actor body =
  flush stdout;
  match Unix.fork () with
  | 0 ->
      run actor body;
      end_script actor;
      flush stdout;
      Unix._exit 0
  | child -> if Unix.waitpid [] child <> (child, WEXITED 0) then failwith "a child did not end well"

and join_domain domain = without_exception (fun () -> Domain.join domain)

(* A domain has registers of its own, which it leaves to the others in the end. *)
and run_domain ops =
  let actor = { regs = Array.make registers none; has_started = false } in
  run actor ops;
  collect_minor ();
  if actor.has_started then ignore (stop ());
  Array.iteri (fun i value -> if Obj.is_block value then shared.(i) <- value) (Sys.opaque_identity actor.regs)

(* ---- scripts ---- *)

let rec read_ops () =
  match String.split_on_char ' ' (input_line stdin) with
  | [ "end" ] -> []
  | name :: numbers ->
      let body = if List.mem name [ "thread"; "domain"; "fork" ] then read_ops () else [] in
      let op = { name; a = Array.of_list (List.map int_of_string numbers); body } in
      op :: read_ops ()
  | [] -> failwith "empty line"

let begin_script () =
  sessions := 0;
  is_clean := false;
  is_settled := true;
  is_ordered := true;
  has_young_keys := false;
  is_disordered := false;
  Array.iter (fun plan -> Array.fill plan 0 most_words Nothing) plans;
  Array.fill blurred 0 most_words false;
  Array.fill forgotten 0 lines_most Keep

let rec run_scripts () =
  match input_line stdin with
  | exception End_of_file -> ()
  | title ->
      let ops = read_ops () in
      begin_script ();
      say title;
      let actor = { regs = shared; has_started = false } in
      (* OCaml does not fork a process that had a domain, so that domains are in children. *)
      if List.exists (fun op -> op.name = "domain") ops then run_in_child actor ops
      else (
        run actor ops;
        end_script actor);
      run_scripts ()

let () =
  Gc.set
    {
      (Gc.get ()) with
      minor_heap_size = 1 lsl 22;
      space_overhead = 1_000_000;
      custom_major_ratio = 1_000_000;
      custom_minor_ratio = 1_000_000;
    };
  run_scripts ()

(* SPDX-License-Identifier: MIT *)
