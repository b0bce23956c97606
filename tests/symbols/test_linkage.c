/* Readable names. */
#include "support/test.h"

#include "symbols/linkage.h"
#include <stdlib.h>
#include <string.h>

static void expect(const char *linkage, const char *wanted) {
  char *name = name_demangle(linkage);
  if (wanted) {
    assert_non_null(name);
    assert_string_equal(name, wanted);
  } else if (name) {
    fail_msg("%s became %s", linkage, name);
  }
  free(name);
}

static void rust_names_are_taken_apart(void **state) {
  (void)state;
  expect("_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar");
  expect("_RINvNtC3std3mem8align_ofjEC5crate", "std::mem::align_of::<usize>");
  expect("_RNvMs_CskwGfYPst2Cb_4shopNtB4_3Log6append", "<shop::Log>::append");
  expect("_RNCNvCskwGfYPst2Cb_4shop4main0B3_", "shop::main::{closure#0}");
  expect("_RNvXs2_Cs9ltgdHTiPiY_4shopINtB5_4RingKj12c_ENtB5_5Shape7outline",
         "<shop::Ring<300> as shop::Shape>::outline");
  expect("_ZN4shop4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42",
         "shop::main::{{closure}}");
  expect("_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE", "alloc::raw_vec::finish_grow");
  expect("_ZN63_$LT$alloc..alloc..Global$u20$as$u20$core..alloc..Allocator$GT$8allocate17h0123456789abcdefE",
         "<alloc::alloc::Global as core::alloc::Allocator>::allocate");
}

static void brackets_close_without_blanks(void **state) {
  (void)state;
  expect("_Z1fSt6vectorIS_IS_IiSaIiEESaIS1_EESaIS3_EE",
         "f(std::vector<std::vector<std::vector<int, std::allocator<int>>, "
         "std::allocator<std::vector<int, std::allocator<int>>>>, "
         "std::allocator<std::vector<std::vector<int, std::allocator<int>>, "
         "std::allocator<std::vector<int, std::allocator<int>>>>>>)");
  expect("_ZgtRK1AS1_", "operator>(A const&, A const&)");
  expect("_ZrsI1AEvT_S1_", "operator>><A>(A, A)");
}

static void functions_have_no_types_of_results(void **state) {
  (void)state;
  expect("_ZNSt6vectorIPvSaIS0_EE12emplace_backIJRS0_EEES4_DpOT_",
         "std::vector<void*, std::allocator<void*>>::emplace_back<void*&>(void*&)");
  expect("_Z4makeIiEPT_i", "make<int>(int)");
  expect("_ZN1AcvT_IiEEv", "A::operator int<int>()");
  expect("_ZN1AcvPFivEEv", "A::operator int (*)()()");
  expect("_Z4giveIiEPFivET_", "give<int>(int)");             /* which returns a pointer to a function */
  expect("_Z4takeIPFivEEvT_", "take<int (*)()>(int (*)())"); /* whose argument is one */
}

static void parts_and_copies_of_a_function_have_its_name(void **state) {
  (void)state;
  expect("_ZN4Deep2goEv.isra.0.cold", "Deep::go()");
  expect("_ZN4Deep2goEv.constprop.0", "Deep::go()");
  expect("parse.part.0", "parse");
  expect("parse.cold", "parse");
  expect("read_line.lto_priv.3", "read_line");
  expect("a.out", NULL);
  expect(".hidden", NULL);
  expect("version.2x", NULL);
  expect("", NULL);
}

static void procedures_of_fortran_have_the_names_of_their_modules(void **state) {
  (void)state;
  expect("__fields_MOD_refine", "fields::refine");
  expect("__my_fields_MOD_refine_all.constprop.0", "my_fields::refine_all");
  expect("__shapes_MOD___copy_shapes_Big", "shapes::__copy_shapes_Big");
  expect("__MOD_refine", NULL);
  expect("___MOD_refine", NULL);
  expect("__fields_MOD_", NULL);
  expect("__Fields_MOD_refine", NULL);
  expect("fields_MOD_refine", NULL);
  expect("__", NULL);
}

static void names_of_c_stay(void **state) {
  (void)state;
  expect("main", NULL);
  expect("_Zebra!", NULL);
  expect("_R", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rust_names_are_taken_apart),
      cmocka_unit_test(brackets_close_without_blanks),
      cmocka_unit_test(functions_have_no_types_of_results),
      cmocka_unit_test(parts_and_copies_of_a_function_have_its_name),
      cmocka_unit_test(procedures_of_fortran_have_the_names_of_their_modules),
      cmocka_unit_test(names_of_c_stay),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
