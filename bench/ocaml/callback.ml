(* A recorder in OCaml alone, for comparison: it writes what Winnow's trace has, which is time, block, size, samples, source and
   callstack of each birth, and the other events. Callstacks share their outer frames with the callstack before, as in Memtrace's
   format; locations are numbered, and their texts written once. *)
let out = ref stdout
let buffer = Buffer.create 70_000

let flush () =
  Buffer.output_buffer !out buffer;
  Buffer.clear buffer

let rec number n =
  if n < 128 then Buffer.add_uint8 buffer n
  else (
    Buffer.add_uint8 buffer (n land 127 lor 128);
    number (n lsr 7))

let text s =
  number (String.length s);
  Buffer.add_string buffer s

let locations : (Printexc.raw_backtrace_entry, int) Hashtbl.t = Hashtbl.create 1000

let place slot =
  text (Option.value (Printexc.Slot.name slot) ~default:"?");
  match Printexc.Slot.location slot with
  | None -> number 0
  | Some { filename; line_number; start_char; end_char } ->
      text filename;
      number line_number;
      number start_char;
      number end_char

let location entry =
  match Hashtbl.find_opt locations entry with
  | Some known -> known
  | None ->
      let fresh = Hashtbl.length locations in
      Hashtbl.add locations entry fresh;
      Buffer.add_char buffer 'L';
      number fresh;
      Option.iter (Array.iter place) (Printexc.backtrace_slots_of_raw_entry entry);
      fresh

let before : Printexc.raw_backtrace_entry array ref = ref [||]

let stack entries =
  let last = Array.length entries - 1 and last_before = Array.length !before - 1 in
  let shared = ref 0 in
  while !shared <= last && !shared <= last_before && entries.(last - !shared) = !before.(last_before - !shared) do
    incr shared
  done;
  number !shared;
  number (last + 1 - !shared);
  for i = last - !shared downto 0 do
    number (location entries.(i))
  done;
  before := entries

let blocks = ref 0
let began = Unix.gettimeofday ()
let time () = number (int_of_float ((Unix.gettimeofday () -. began) *. 1e6))

let born area (info : Gc.Memprof.allocation) =
  if Buffer.length buffer > 60_000 then flush ();
  incr blocks;
  Buffer.add_char buffer area;
  time ();
  number info.size;
  number info.n_samples;
  number (match info.source with Normal -> 0 | Marshal -> 1 | Custom -> 2);
  stack (Printexc.raw_backtrace_entries info.callstack);
  Some !blocks

let told kind block =
  Buffer.add_char buffer kind;
  time ();
  number (!blocks - block)

let start ~sampling_rate path =
  out := open_out_bin path;
  Gc.Memprof.start ~sampling_rate ~callstack_size:512
    {
      alloc_minor = born 'a';
      alloc_major = born 'A';
      promote = (fun block -> told 'p' block; Some block);
      dealloc_minor = told 'd';
      dealloc_major = told 'D';
    }
  |> ignore;
  at_exit flush

(* SPDX-License-Identifier: MIT *)
