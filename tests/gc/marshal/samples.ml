(* Messages of OCaml for the tests of winnow/marshal.h: samples FOLDER PREFIX writes them. samples/ has, as hexadecimal text, what this
   program wrote when it was compiled by OCaml 4.13.1 and by 5.3.0. Marshalling with the file's flags gives the same bytes again, but
   for the bits that 5.3 sets in long headers. The name says which flags: nosharing-NAME. *)
type variant = A | B | C of int | D of variant * variant | E of string
type ring = { name : string; mutable next : ring option; weight : float }

let write name flags value =
  let file = open_out_bin (Filename.concat Sys.argv.(1) (Sys.argv.(2) ^ "-" ^ name ^ ".bin")) in
  Marshal.to_channel file value flags;
  close_out file

let text n = String.init n (fun i -> Char.chr (97 + (i mod 26)))

let ints =
  [ 0; 1; 63; 64; 127; 128; -1; -128; -129; 32767; 32768; -32768; -32769; 0x3fffffff; 0x40000000; -0x40000000; -0x40000001; max_int; min_int ]

let ring () =
  let a = { name = "a"; next = None; weight = 0.5 } in
  let b = { name = "b"; next = Some a; weight = 1.5 } in
  a.next <- Some b;
  a

let block tag size =
  let made = Obj.new_block tag size in
  for i = 0 to size - 1 do
    Obj.set_field made i (Obj.repr i)
  done;
  made

let () =
  write "ints" [] ints;
  write "strings" [] (Array.map text [| 0; 1; 7; 8; 31; 32; 255; 256 |]);
  write "floats" [] ([ 0.0; -0.0; 1.5; infinity; nan; min_float ], [| 0.5; 1.5 |], [||], Array.init 256 float);
  write "blocks" [] (List.map (fun (tag, size) -> block tag size) [ (0, 7); (0, 8); (15, 1); (16, 1); (243, 2); (0, 300) ], Obj.new_block 16 0);
  write "shared" [] (let x = text 5 in
                     let c = ref 7 in
                     (x, [ x; x; text 5 ], c, Array.init 300 ref, c, x));
  write "nosharing-pair" [ Marshal.No_sharing ] (let x = text 5 in (x, x, [ x; x ]));
  write "ring" [] (ring ());
  write "variants" [] ([ A; B; C 3; D (C 1, E "x"); E (text 40) ], `Foo, `Pair (1, "p"), Some (Some None));
  write "customs" [] ([ Int32.min_int; -1l; Int32.max_int ], [ Int64.min_int; -1L; 0x0123456789abcdefL ],
                      [ 0n; 0x7fffffffn; 0x80000000n; Nativeint.min_int ], let j = 5L in (j, j));
  write "exceptions" [] [ Not_found; Failure "boom"; Invalid_argument "bad" ];
  write "lazy" [] (let x = lazy (text 3) in ignore (Lazy.force x); x);
  write "closure" [ Marshal.Closures ] (fun x -> x + List.length ints)

(* SPDX-License-Identifier: MIT *)
