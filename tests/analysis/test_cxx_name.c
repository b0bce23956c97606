/* The parts of names of C++, and which names may be of one function. */
#include "support/test.h"

#include "analysis/load/cxx_name.h"
#include <string.h>

static void has_parts(const char *text, const char *scope, const char *base, const char *arguments,
                      const char *parameters) {
  struct cxx_name name;
  cxx_name_parse(text, &name);
  const struct cxx_part parts[] = {name.scope, name.base, name.arguments, name.parameters};
  const char *expected[] = {scope, base, arguments, parameters};
  for (int i = 0; i < 4; i++)
    if (parts[i].bytes != strlen(expected[i]) || memcmp(parts[i].text, expected[i], parts[i].bytes) != 0)
      fail_msg("%s: part %d is '%.*s', not '%s'", text, i, (int)parts[i].bytes, parts[i].text, expected[i]);
}

static void names_have_parts(void **state) {
  (void)state;
  has_parts("main", "", "main", "", "");
  has_parts("", "", "", "", "");
  has_parts("work(int)", "", "work", "", "(int)");
  has_parts("void zoo::keeper<36, lion>::feed<int>(zoo::food const&) const", "zoo::keeper<36, lion>", "feed",
            "<int>", "(zoo::food const&)");
  has_parts("(anonymous namespace)::f(int)", "(anonymous namespace)", "f", "", "(int)");
  has_parts("work(int)::{lambda(int)#1}::operator()(int) const", "work(int)::{lambda(int)#1}", "operator()",
            "", "(int)");
  has_parts("work::{lambda}::operator()", "work::{lambda}", "operator()", "", "");
  has_parts("make_unique<Item, std::less<int> >", "", "make_unique", "<Item, std::less<int> >", "");
  has_parts("std::operator< <char>(char)", "std", "operator< ", "<char>", "(char)");
  has_parts("bool A::operator<(A const&) const", "A", "operator<", "", "(A const&)");
  has_parts("operator new(unsigned long)", "", "operator new", "", "(unsigned long)");
  has_parts("A::operator std::string() const", "A", "operator std::string", "", "()");
  has_parts("decltype (f(0)) g<int>(int)", "", "g", "<int>", "(int)");
  has_parts("<T as Trait>::method", "<T as Trait>", "method", "", "");
  has_parts("f(int) [clone .cold]", "", "f", "", "(int)");
  has_parts("A::f(int) &&", "A", "f", "", "(int)");
  has_parts("broken(<", "", "broken(<", "", "");
  has_parts("broken>)", "", "broken>)", "", "");
  has_parts("A::", "", "A::", "", "");
}

static bool may_be(const char *one, const char *other) {
  struct cxx_name left, right;
  cxx_name_parse(one, &left);
  cxx_name_parse(other, &right);
  assert_int_equal(cxx_name_may_be(&left, &right), cxx_name_may_be(&right, &left));
  return cxx_name_may_be(&left, &right);
}

static void names_that_lack_parts_may_be_of_one_function(void **state) {
  (void)state;
  assert_true(may_be("work", "work(int)"));
  assert_true(may_be("get", "Pool<Item>::get()"));
  assert_true(may_be("make_unique<Item>", "std::make_unique<Item>(int&&)"));
  assert_true(may_be("operator()", "work::{lambda}::operator()"));
  assert_true(may_be("work(int)::{lambda(int)#1}::operator()(int) const", "work::{lambda}::operator()"));
  assert_true(may_be("Pool::get", "Pool<Item>::get()"));
}

static void names_with_other_parts_are_of_other_functions(void **state) {
  (void)state;
  assert_false(may_be("A::clear", "B::clear"));
  assert_false(may_be("AB::clear", "A::clear"));
  assert_false(may_be("f(int)", "f(long)"));
  assert_false(may_be("f<int>", "f<long>"));
  assert_false(may_be("get", "gets"));
  assert_false(may_be("", ""));
  assert_false(may_be("operator()", "operator[]"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_have_parts),
                                     cmocka_unit_test(names_that_lack_parts_may_be_of_one_function),
                                     cmocka_unit_test(names_with_other_parts_are_of_other_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
