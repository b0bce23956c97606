(* The side of OCaml in test_marshal_ocaml: exchange write FILE writes messages; check FILE reads them, as Winnow wrote them again,
   and compares; rewrite FROM TO reads all messages of a file and writes them. *)
let text n = String.init n (fun i -> Char.chr (97 + (i mod 26)))

(* Graphs with sharing and cycles: blocks that were made before are met again. *)
let graph count =
  let all = Array.make count (Obj.repr 0) in
  for i = 0 to count - 1 do
    all.(i) <-
      (match Random.int 9 with
      | 0 -> Obj.repr (text (Random.int 40))
      | 1 -> Obj.repr (Random.float 1.0)
      | 2 -> Obj.repr (Array.init (1 + Random.int 5) float)
      | 3 -> Obj.repr (Random.int64 Int64.max_int)
      | 4 -> Obj.repr (Int32.of_int (Random.bits ()))
      | 5 -> Obj.repr Bigarray.(Array1.of_array Float64 c_layout (Array.init (Random.int 5) float))
      | 6 -> Obj.repr Bigarray.(Array1.of_array Int fortran_layout (Array.init (Random.int 5) (fun i -> i lsl Random.int 60)))
      | _ -> Obj.new_block (Random.int 20) (Random.int 9))
  done;
  let field () = if Random.bool () then Obj.repr (Random.bits () lsl Random.int 33) else all.(Random.int count) in
  Array.iter
    (fun block ->
      if Obj.is_block block && Obj.tag block < 20 then
        for i = 0 to Obj.size block - 1 do
          Obj.set_field block i (field ())
        done)
    all;
  Obj.repr all

let values () =
  Random.init 7;
  [ Obj.repr 5; Obj.repr [ 1; 2; 3 ]; Obj.repr (text 1000); Obj.repr (List.init 1000000 Fun.id); Obj.repr [||] ]
  @ List.init 40 (fun i -> graph (1 + (i * i)))

let each_of name f =
  let file = open_in_bin name in
  let count = ref 0 in
  (try
     while true do
       let value : Obj.t = Marshal.from_channel file in
       f !count value;
       incr count
     done
   with End_of_file -> close_in file);
  !count

let () =
  match Array.to_list Sys.argv |> List.tl with
  | [ "write"; name ] ->
      let file = open_out_bin name in
      List.iter (fun value -> Marshal.to_channel file value []) (values ());
      close_out file
  | [ "check"; name ] ->
      let wanted = Array.of_list (values ()) in
      let same i value =
        if Marshal.to_string value [] <> Marshal.to_string wanted.(i) [] then (
          Printf.eprintf "message %d has changed\n" i;
          exit 1)
      in
      if each_of name same <> Array.length wanted then exit 1
  | [ "rewrite"; from; into ] ->
      let file = open_out_bin into in
      ignore (each_of from (fun _ value -> Marshal.to_channel file value []));
      close_out file
  | _ -> exit 2

(* SPDX-License-Identifier: MIT *)
