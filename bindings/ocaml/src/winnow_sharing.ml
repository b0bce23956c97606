module Sampling = Winnow_sampling
module Table = Winnow_table

(* The kept of so many samples, each with a probability. *)
external thin : int -> float -> int = "winnow_thin" [@@noalloc]

external depth_of : Printexc.raw_backtrace -> int = "caml_raw_backtrace_length" [@@noalloc]
external backtrace_of : Printexc.raw_backtrace_entry array -> Printexc.raw_backtrace = "%identity"

type direct = {
  alloc_minor : Gc.Memprof.allocation -> int;
  alloc_major : Gc.Memprof.allocation -> int;
  promote : int -> unit;
  dealloc : int -> unit;
}

type role = Recording | Own

type profile = {
  first : here; (* of the domain that began the profile *)
  replaced : profile option; (* that still follows blocks for the clients: RESTART *)
  direct : direct option; (* of the recording that began it: DIRECT *)
  mutable is_inherited : bool; (* another domain may sample with it, too *)
  rate : float;
  depth : int;
  samplers : int Atomic.t; (* the clients that sample; at 0 the profile is stopped *)
  holders : int Atomic.t; (* the clients that are not discarded; at 0 the profile is discarded *)
  minors : minors Table.t;
  majors : majors Table.t;
  mutable underlying : Sampling.profile option;
}

and ('minor, 'major) member = {
  mutable shared : profile; (* changed by a restart, in a domain that has the profile alone *)
  tracker : ('minor, 'major) Gc.Memprof.tracker;
  own_rate : float;
  largest_depth : int; (* the recording takes whole callstacks *)
  own_direct : direct option;
  yield : (unit -> unit) option; (* stops this client, so that a client that needs more can begin: YIELD *)
  samples : bool Atomic.t;
  hears : bool Atomic.t; (* false: no more callbacks *)
}

and client = Client : ('minor, 'major) member -> client

(* The profile that samples in a domain, and its clients there. Those that have stopped may still be here. *)
and here = { mutable profile : profile option; mutable recording : client option; mutable own : client option }

(* What is known of a tracked block: the clients that track it and their values. The program comes before the recording. *)
and minors = No_minor | Minor : ('minor, 'major) member * 'minor * minors -> minors

and majors = No_major | Major : ('minor, 'major) member * 'major * majors -> majors

let inherit_from here =
  Option.iter (fun profile -> profile.is_inherited <- true) here.profile;
  { here with profile = here.profile }

let local = Sampling.new_local ~copy:inherit_from (fun () -> { profile = None; recording = None; own = None })

let own_is_possible = ref false
let expect_own () = own_is_possible := true

(* ---- a client's view of a sampled block ---- *)

(* As Gc.Memprof.allocation, which is private. *)
type allocation = {
  n_samples : int;
  size : int;
  source : Gc.Memprof.allocation_source;
  callstack : Printexc.raw_backtrace;
}

(* Of winnow_stubs.c: words that the heap's own counts have and samples do not. *)
external count_words : (float[@unboxed]) -> unit = "winnow_count_words_boxed" "winnow_count_words" [@@noalloc]
external count_sample : Printexc.raw_backtrace -> unit = "winnow_count_sample" [@@noalloc]
external count_promoted : int -> unit = "winnow_count_promoted" [@@noalloc]

external seal : allocation -> Gc.Memprof.allocation = "%identity"

let allocation ~n_samples ~size callstack = seal { n_samples; size; source = Normal; callstack }

let cut callstack depth =
  if depth_of callstack <= depth then callstack
  else backtrace_of (Array.sub (Printexc.raw_backtrace_entries callstack) 0 depth)

(* THINNING. A restart may be under way in another thread: what counts is the rate of the profile that took the samples. *)
let kept profile member (info : Gc.Memprof.allocation) =
  if not (Atomic.get member.samples) then 0
  else if member.own_rate >= profile.rate then info.n_samples
  else thin info.n_samples (member.own_rate /. profile.rate)

let view member (info : Gc.Memprof.allocation) n_samples =
  let callstack = cut info.callstack member.largest_depth in
  if n_samples = info.n_samples && callstack == info.callstack then info
  else seal { n_samples; size = info.size; source = info.source; callstack }

(* ---- callbacks ---- *)

let rec died_minor = function
  | No_minor -> ()
  | Minor (member, value, others) ->
      died_minor others;
      if Atomic.get member.hears then member.tracker.dealloc_minor value

let rec died_major = function
  | No_major -> ()
  | Major (member, value, others) ->
      died_major others;
      if Atomic.get member.hears then member.tracker.dealloc_major value

(* An exception of the program's callback goes on to the runtime, which then tracks the block no longer: to the other client, which
   was called before, the block has died. *)
let or_died died others action =
  try action ()
  with error ->
    let backtrace = Printexc.get_raw_backtrace () in
    died others;
    Printexc.raise_with_backtrace error backtrace

let add_minor profile info client others =
  match client with
  | None -> others
  | Some (Client member) -> (
      match kept profile member info with
      | 0 -> others
      | n -> (
          match or_died died_minor others (fun () -> member.tracker.alloc_minor (view member info n)) with
          | None -> others
          | Some value -> Minor (member, value, others)))

let add_major profile info client others =
  match client with
  | None -> others
  | Some (Client member) -> (
      match kept profile member info with
      | 0 -> others
      | n -> (
          match or_died died_major others (fun () -> member.tracker.alloc_major (view member info n)) with
          | None -> others
          | Some value -> Major (member, value, others)))

(* PROMOTED. A member of [minors] or [majors] is a block with three fields and a header, to which a table points. So the next minor
   collection promotes it. One of [minors] is taken from its table soon after that collection, and is counted then. One of [majors]
   may stay, and is counted when it is put there. *)
let member_words = 4
let rec minor_words = function No_minor -> 0 | Minor (_, _, others) -> member_words + minor_words others
let rec major_words = function No_major -> 0 | Major (_, _, others) -> member_words + major_words others

let number_minor profile = function No_minor -> None | minors -> Some (2 * Table.put profile.minors minors)

let number_major profile = function
  | No_major -> None
  | majors ->
      count_promoted (major_words majors);
      Some (2 * Table.put profile.majors majors)

let take_minor profile number =
  let minors = Table.take profile.minors (number / 2) in
  count_promoted (minor_words minors);
  minors

let rec promote = function
  | No_minor -> No_major
  | Minor (member, value, minors) -> (
      let others = promote minors in
      if not (Atomic.get member.hears) then others
      else
        match or_died died_major others (fun () -> member.tracker.promote value) with
        | None -> others
        | Some value -> Major (member, value, others))

let taken = function Some (Client member) -> Atomic.get member.samples | None -> false

let nobody = { profile = None; recording = None; own = None }

(* The runtime calls the callback of an allocation in the domain that allocated. A domain that is being spawned may have no values
   of its own yet; its clients are those of the domain that began the profile. *)
let clients profile =
  let here = if Sampling.is_usable () then Sampling.get local else profile.first in
  match here.profile with
  | Some current -> if current == profile then here else nobody
  | None -> profile.first

let born profile add none info =
  let here = clients profile in
  add profile info here.own (add profile info here.recording none)

(* Calls a callback, and counts what it allocates, which is not sampled. Of a callback that raises nothing is counted. *)
let[@inline] counting callback argument =
  let before = Gc.minor_words () in
  let result = callback argument in
  count_words (Gc.minor_words () -. before);
  result

(* Of callbacks that may have any number of clients. *)
let shared_tracker profile : (int, int) Gc.Memprof.tracker =
  let alloc add number none (info : Gc.Memprof.allocation) =
    count_sample info.callstack;
    number profile (born profile add none info)
  in
  {
    alloc_minor = counting (alloc add_minor number_minor No_minor);
    alloc_major = counting (alloc add_major number_major No_major);
    promote = counting (fun number -> number_major profile (promote (take_minor profile number)));
    dealloc_minor = counting (fun number -> died_minor (take_minor profile number));
    dealloc_major = counting (fun number -> died_major (Table.take profile.majors (number / 2)));
  }

let is_direct number = number land 1 = 1

(* Whether the recording that began the profile is alone here. Allocates nothing. *)
let is_alone profile direct =
  match clients profile with
  | { recording = Some (Client { own_direct = Some mine; _ }); own; _ } -> mine == direct && not (taken own)
  | _ -> false

let tracker profile : (int, int) Gc.Memprof.tracker =
  let shared = shared_tracker profile in
  match profile.direct with
  | None -> shared
  | Some direct ->
      let[@inline] alloc direct_alloc shared_alloc info =
        if is_alone profile direct then match direct_alloc info with 0 -> None | block -> Some ((2 * block) + 1)
        else shared_alloc info
      in
      let dealloc shared_dealloc number = if is_direct number then direct.dealloc (number asr 1) else shared_dealloc number in
      {
        alloc_minor = (fun info -> alloc direct.alloc_minor shared.alloc_minor info);
        alloc_major = (fun info -> alloc direct.alloc_major shared.alloc_major info);
        promote =
          (fun number ->
            if is_direct number then (
              direct.promote (number asr 1);
              Some number)
            else shared.promote number);
        dealloc_minor = dealloc shared.dealloc_minor;
        dealloc_major = dealloc shared.dealloc_major;
      }

(* ---- profiles ---- *)

(* A client joins as holder first: a profile with a client that samples is not discarded. *)
let rec release profile =
  if Atomic.fetch_and_add profile.holders (-1) = 1 then (
    (try Option.iter Sampling.discard profile.underlying with Failure _ -> ());
    Option.iter release profile.replaced)

let rec joins_samplers profile =
  let samplers = Atomic.get profile.samplers in
  samplers > 0 && (Atomic.compare_and_set profile.samplers samplers (samplers + 1) || joins_samplers profile)

let joins profile =
  Atomic.incr profile.holders;
  joins_samplers profile
  ||
  (release profile;
   false)

let leave profile =
  if Atomic.fetch_and_add profile.samplers (-1) = 1 then (
    (Sampling.get local).profile <- None;
    Sampling.stop ())

let new_profile ?replaced ?direct here rate depth =
  {
    first = here;
    replaced;
    direct;
    is_inherited = false;
    rate;
    depth;
    samplers = Atomic.make 1;
    holders = Atomic.make 1;
    minors = Table.create No_minor;
    majors = Table.create No_major;
    underlying = None;
  }

let new_member role profile yield direct ~sampling_rate ~callstack_size tracker =
  {
    shared = profile;
    tracker;
    own_rate = sampling_rate;
    largest_depth = (if role = Recording then max_int else callstack_size);
    own_direct = direct;
    yield;
    samples = Atomic.make true;
    hears = Atomic.make true;
  }

let client_here here = function Recording -> here.recording | Own -> here.own

let set here role client =
  match role with Recording -> here.recording <- client | Own -> here.own <- client

let begin_underlying here role profile client =
  let tracker = tracker profile in
  here.profile <- Some profile;
  set here role (Some client);
  match Sampling.start ~sampling_rate:profile.rate ~callstack_size:profile.depth tracker with
  | underlying -> profile.underlying <- Some underlying
  | exception error ->
      here.profile <- None;
      set here role None;
      raise error

let move next = function
  | Some (Client member) when Atomic.get member.samples ->
      Atomic.incr next.samplers;
      Atomic.incr next.holders;
      let left = member.shared in
      member.shared <- next;
      release left
  | _ -> ()

(* RESTART. The caller has joined the profile; what it holds of it passes to the next one. *)
let restart here role profile next client =
  (try Sampling.stop ()
   with error ->
     (* A callback raised, and the profile goes on. *)
     Atomic.decr profile.samplers;
     release profile;
     raise error);
  Atomic.set profile.samplers 0;
  move next here.recording;
  move next here.own;
  begin_underlying here role next client

(* YIELD. Whether the recording of this domain has made room. *)
let recording_yields here =
  match here.recording with
  | Some (Client { yield = Some yield; samples; _ }) when Atomic.get samples ->
      yield ();
      not (Atomic.get samples)
  | _ -> false

let refuse () =
  failwith "Winnow: the profile that is under way has a smaller rate or smaller callstacks (see Winnow.Memprof)"

let start role ~sampling_rate ~callstack_size ?largest_rate ?yield ?direct tracker =
  if callstack_size < 0 || not (sampling_rate >= 0.0 && sampling_rate <= 1.0) then invalid_arg "Gc.Memprof.start";
  let here = Sampling.get local in
  if taken (client_here here role) then failwith "Gc.Memprof.start: already started.";
  let client_of profile = Client (new_member role profile yield direct ~sampling_rate ~callstack_size tracker) in
  let rec join () =
    match here.profile with
    | Some profile when joins profile ->
        if sampling_rate <= profile.rate && callstack_size <= profile.depth then (
          let client = client_of profile in
          set here role (Some client);
          client)
        else if Sampling.restart_keeps && not profile.is_inherited then (
          let rate = Float.max sampling_rate profile.rate and depth = max callstack_size profile.depth in
          let next = new_profile ~replaced:profile here rate depth in
          let client = client_of next in
          restart here role profile next client;
          client)
        else (
          leave profile;
          release profile;
          let is_gone = match here.profile with Some current -> current != profile | None -> true in
          if is_gone || (role = Own && recording_yields here) then join () else refuse ())
    | _ ->
        let rate = Float.max sampling_rate (Option.value largest_rate ~default:0.0) in
        let any_depth = role = Recording && (largest_rate <> None || !own_is_possible) in
        let direct = if rate > sampling_rate then None else direct in
        let profile = new_profile ?direct here rate (if any_depth then max_int else callstack_size) in
        let client = client_of profile in
        begin_underlying here role profile client;
        client
  in
  join ()

let own () =
  match (Sampling.get local).own with
  | Some client when taken (Some client) -> client
  | _ -> raise Sampling.not_started

let records_here client =
  match (Sampling.get local).recording with Some current -> current == client && taken (Some client) | None -> false

let stop (Client member) =
  if not (Atomic.exchange member.samples false) then raise Sampling.not_started;
  if Sampling.stop_discards then Atomic.set member.hears false;
  leave member.shared

let discard (Client member) =
  if Atomic.get member.samples then failwith "Gc.Memprof.discard: profile not stopped.";
  if Sampling.stop_discards || Atomic.exchange member.hears false then release member.shared
  else failwith "Gc.Memprof.discard: profile already discarded."

(* SPDX-License-Identifier: MIT *)
