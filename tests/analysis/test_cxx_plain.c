/* Names of C++ as programmers write them. */
#include "support/test.h"

#include "analysis/load/cxx_plain.h"
#include <string.h>

static void is_plainly(const char *name, const char *expected) {
  char text[1024];
  bool differs = cxx_name_plain(name, text, sizeof text);
  assert_string_equal(text, expected);
  assert_int_equal(differs, strcmp(name, expected) != 0);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>"

static void defaults_of_the_library_are_left_out(void **state) {
  (void)state;
  is_plainly("std::vector<int, std::allocator<int> >::push_back(int const&)",
             "std::vector<int>::push_back(int const&)");
  is_plainly(
      "shop::price(std::map<" STRING ", std::vector<std::pair<int, double>, std::allocator<std::pair<int, "
      "double>>>, std::less<" STRING ">, std::allocator<std::pair<" STRING
      " const, std::vector<std::pair<int, double>, std::allocator<std::pair<int, double>>>>>>&, " STRING
      " const&, int)",
      "shop::price(std::map<std::string, std::vector<std::pair<int, double>>>&, std::string const&, int)");
  is_plainly("f(std::unordered_map<long, char, std::hash<long>, std::equal_to<long>, "
             "std::allocator<std::pair<long const, char>>>&)",
             "f(std::unordered_map<long, char>&)");
  is_plainly("g(std::__1::unique_ptr<int, std::__1::default_delete<int>>)", "g(std::unique_ptr<int>)");
  is_plainly("shop::Pool<shop::Item, std::less<shop::Item>>::make(int)", "shop::Pool<shop::Item>::make(int)");
}

static void what_is_no_default_stays(void **state) {
  (void)state;
  is_plainly("f(std::set<int, std::greater<int>, std::allocator<int>>)",
             "f(std::set<int, std::greater<int>>)");
  is_plainly("f(std::set<long, std::less<void>, std::allocator<long>>)",
             "f(std::set<long, std::less<void>>)");
  is_plainly("f(std::map<int, std::allocator<int>, shop::Order>)",
             "f(std::map<int, std::allocator<int>, shop::Order>)");
  is_plainly("f(std::vector<int, shop::allocator<int>>)", "f(std::vector<int, shop::allocator<int>>)");
  is_plainly("std::allocator<int>::allocate(unsigned long)", "std::allocator<int>::allocate(unsigned long)");
}

static void strings_and_streams_have_their_usual_names(void **state) {
  (void)state;
  is_plainly(
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
      "std::string::append(char const*)");
  is_plainly("std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>>::size()",
             "std::wstring::size()");
  is_plainly(
      "std::basic_ostream<char, std::char_traits<char>>& std::operator<< <std::char_traits<char>>(int)",
      "std::ostream& std::operator<< <std::char_traits<char>>(int)");
  is_plainly("std::basic_string<char16_t>::size()", "std::basic_string<char16_t>::size()");
  is_plainly("shop::basic_string<char>::size()", "shop::basic_string<char>::size()");
  is_plainly("shop::describe[abi:cxx11](int)", "shop::describe(int)");
  is_plainly("std::__cxx11::list<int, std::allocator<int>>::clear()", "std::list<int>::clear()");
  is_plainly("shop::std::__1::f()", "shop::std::__1::f()");
}

static void lambdas_are_shown_without_what_calls_them(void **state) {
  (void)state;
  is_plainly(
      "std::_Function_handler<void (int), main::{lambda(int)#2}>::_M_invoke(std::_Any_data const&, int&&)",
      "main::{lambda(int)#2}::operator()");
  is_plainly(
      "std::_Function_handler<int (), f(std::vector<int, std::allocator<int>>)::{lambda()#1}>::_M_invoke("
      "std::_Any_data const&)",
      "f(std::vector<int>)::{lambda()#1}::operator()");
  is_plainly("std::thread::_State_impl<std::thread::_Invoker<std::tuple<work()::{lambda()#1}>>>::_M_run()",
             "work()::{lambda()#1}::operator()");
  is_plainly("std::_Function_handler<void (int), void (*)(int)>::_M_invoke(std::_Any_data const&, int&&)",
             "std::_Function_handler<void (int), void (*)(int)>::_M_invoke(std::_Any_data const&, int&&)");
}

static void other_names_stay(void **state) {
  (void)state;
  static const char *const names[] = {
      "",
      "main",
      "<shop::Order as core::convert::From<u64>>::from",
      "alloc::vec::Vec<u8, shop::Arena>::push",
      "fields::refine",
      "main.(*list).add",
      "zoo::operator<(zoo::animal const&, zoo::animal const&)",
      "zoo::pointer<animal>::operator->(long)",
      "<dyn core::ops::Fn(u8) -> (u8, u8)>::call",
      "std::array<int, (3>2)>::at(unsigned long)",
      "broken<<<(((name",
      "broken>>>)))name",
      "f<",
      "[abi:",
  };
  for (size_t i = 0; i + 1 < sizeof names / sizeof *names; i++) is_plainly(names[i], names[i]);
  is_plainly("[abi:", "");
}

static void long_and_deep_names_end(void **state) {
  (void)state;
  static char name[20000];
  char text[64];
  memset(name, '<', 4000);
  assert_true(cxx_name_plain(name, text, sizeof text));
  assert_int_equal(strlen(text), sizeof text - 1);
  memset(name, 'a', sizeof name - 1);
  assert_true(cxx_name_plain(name, text, sizeof text));
  assert_false(cxx_name_plain("std::vector<int>", text, sizeof text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_of_the_library_are_left_out),
      cmocka_unit_test(what_is_no_default_stays),
      cmocka_unit_test(strings_and_streams_have_their_usual_names),
      cmocka_unit_test(lambdas_are_shown_without_what_calls_them),
      cmocka_unit_test(other_names_stay),
      cmocka_unit_test(long_and_deep_names_end),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
