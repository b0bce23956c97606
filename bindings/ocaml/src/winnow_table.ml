(* The free numbers are a list: `next` has the number after each, -1 at the end. In OCaml 4 threads change only where something is
   allocated, which is in `grow` alone, so that `grow` looks whether another thread was first. *)
type 'a t = { none : 'a; mutable values : 'a array; mutable next : int array; mutable free : int }

let create none = { none; values = [||]; next = [||]; free = -1 }

let grow table =
  let size = Array.length table.values in
  let grown = max 64 (2 * size) in
  let values = Array.make grown table.none and next = Array.make grown (-1) in
  if Array.length table.values = size && table.free < 0 then (
    Array.blit table.values 0 values 0 size;
    for i = size to grown - 2 do
      next.(i) <- i + 1
    done;
    table.values <- values;
    table.next <- next;
    table.free <- size)

let put table value =
  Winnow_sampling.exclusively (fun () ->
      while table.free < 0 do
        grow table
      done;
      let number = table.free in
      table.free <- table.next.(number);
      table.values.(number) <- value;
      number)

let take table number =
  Winnow_sampling.exclusively (fun () ->
      let value = table.values.(number) in
      table.values.(number) <- table.none;
      table.next.(number) <- table.free;
      table.free <- number;
      value)

(* SPDX-License-Identifier: MIT *)
