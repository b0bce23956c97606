/* Names that are too long for their column. */
#include "support/test.h"

#include "cli/report/report_name.h"
#include "cli/text.h"
#include <string.h>

static void names_lose_what_tells_least(void **state) {
  (void)state;
  static const struct {
    size_t columns;
    const char *name, *expected;
  } known[] = {
      {40, "main", "main"},
      {24, "std::vector<int>::push_back(int const&)", "…::push_back(…)"},
      {30, "std::vector<int>::push_back(int const&)", "std::vector<…>::push_back(…)"},
      {38, "std::vector<int>::push_back(int const&)", "std::vector<…>::push_back(int const&)"},
      {39, "std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(int const&)"},
      {40, "std::map<int, std::vector<char, zoo::allocator<char> > >::find(int)",
       "std::map<int, std::vector<…>>::find(int)"},
      {62, "std::map<int, std::vector<char, zoo::allocator<char> > >::find(int)",
       "std::map<int, std::vector<char, zoo::allocator<…>>>::find(int)"},
      {26, "std::map<int, std::vector<char, zoo::allocator<char> > >::find(int)", "std::map<…>::find(int)"},
      {80, "std::map<int, std::vector<char, std::allocator<char> > >::find(int)",
       "std::map<int, std::vector<char>>::find(int)"},
      {80, "shop::describe[abi:cxx11](std::__cxx11::basic_string<char> const&)",
       "shop::describe(std::string const&)"},
      {30, "f<int, long>(g<short>) and some more", "f<…>(g<…>) and some more"},
      {22, "zoo::operator<(zoo::animal const&, zoo::animal const&)", "zoo::operator<(…)"},
      {22, "zoo::operator<< <char>(zoo::stream&)", "zoo::operator<< <…>(…)"},
      {22, "zoo::operator<=>(zoo::animal, zoo::animal)", "zoo::operator<=>(…)"},
      {32, "zoo::pointer<animal>::operator->(long, long)", "zoo::pointer<…>::operator->(…)"},
      {28, "zoo::call<int>::operator()(int, int) const", "…::call<…>::operator()(…) c…"},
      {33, "zoo::call<int>::operator()(int, int) const", "zoo::call<…>::operator()(…) const"},
      {38, "(anonymous namespace)::open(char const*, int)", "(anonymous namespace)::open(…)"},
      {40, "cooperator<int, unsigned long, std::string>::run", "cooperator<…>::run"},
      {20, "std::array<int, (3>2)>::at(unsigned long)", "std::array<…>::at(…)"},
      {12, "broken<<<(((name", "broken<<<((…"},
      {12, "broken>>>)))name", "broken>>>))…"},
      {30, "base::result<int> zoo::keeper::feed<lion, 3>(lion&)", "zoo::keeper::feed<…>(…)"},
      {44, "base::result<int> zoo::keeper::feed<lion, 3>(lion&)",
       "base::result<…> zoo::keeper::feed<…>(lion&)"},
      {24, "zoo::cage::operator unsigned long() const", "…::cage::operator unsig…"},
      {30, "int (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<…>(…)"},
      {12, "<animal as zoo::Named>::name", "animal::name"},
      {12, "a plain name without any parameters", "a plain nam…"},
      {8, "größe_einer_kiste", "größe_e…"},
      {24, "zoo::cage::find<lion>(lion const&)::{lambda(int)#1}::operator()(int) const",
       "…::find<…>(…)::{lambda(…"},
      {24, "core::ops::function::FnOnce::call_once", "…::FnOnce::call_once"},
      {11, "core::ops::function::FnOnce::call_once", "core::ops:…"},
      {14, "zoo::cage::operator()(int, long) const", "…::cage::oper…"},
      {20, "zoo::animals::operators_of_cages(int, long)", "…::operators_of_cag…"},
      {1, "main", "…"},
      {4, "main", "main"},
      {4, "", ""},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[256];
    name_fit(text, sizeof text, known[i].name, known[i].columns);
    assert_string_equal(text, known[i].expected);
    assert_true(text_columns(text) <= known[i].columns);
  }
}

static void places_stay_behind_names(void **state) {
  (void)state;
  static const struct {
    size_t columns;
    const char *name, *expected;
  } known[] = {
      {40, "main (shop.c:12)", "main (shop.c:12)"},
      {44,
       "std::operator+<char, std::char_traits<char> >(std::string const&, char const*) (basic_string.h:3500)",
       "std::operator+<…>(…) (basic_string.h:3500)"},
      {40,
       "std::operator+<char, std::char_traits<char> >(std::string const&, char const*) (basic_string.h:3500)",
       "std::operator+<…>… (basic_string.h:3500)"},
      {28, "Anon::put<std::vector<int> >(int, long) (anon.cpp:7)", "Anon::put<…>(…) (anon.cpp:7)"},
      {40, "core::ops::function::FnOnce::call_once (function.rs:250)",
       "…::FnOnce::call_once (function.rs:250)"},
      {24, "zoo::cage::open() const (cage.cc:9)", "…::open() c… (cage.cc:9)"},
      {30, "int (anonymous namespace)::f<int>(int) (f.cc:10)", "…::f<…>(…) (f.cc:10)"},
      {24, "parse (a_file_with_a_long_name.c:123)", "parse (…long_name.c:123)"},
      {20, "parse_document (größe_einer_kiste.c:123)", "parse… (…iste.c:123)"},
      {12, "parse_document (kiste.c:12345)", "p… (…:12345)"},
      {8, "parse_document (kiste.c:12345)", "parse_d…"},
      {36, "std::basic_string<char>::_M_mutate(unsigned long, char const*) (libstdc++.so.6+0x13fc)",
       "…::_M_mutat… (libstdc++.so.6+0x13fc)"},
      {17, "f(int, long) (0x1:2x)", "f(…) (0x1:2x)"},
      {17, "f(int, long) (ms) (a.c:1)", "f(…) (ms) (a.c:1)"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[256];
    name_fit(text, sizeof text, known[i].name, known[i].columns);
    assert_string_equal(text, known[i].expected);
    assert_true(text_columns(text) <= known[i].columns);
  }
}

/* Whatever the width, letters of the name stay. */
static void no_name_shrinks_to_nothing(void **state) {
  (void)state;
  static const char *const names[] = {
      "void (*zoo::find(int, unsigned long))(char, animal const&)",
      "core::ops::function::FnOnce::call_once (function.rs:250)",
      "name of no function (with parameters)",
      "std::sys::backtrace::__rust_begin_short_backtrace::<closure, ()> (backtrace.rs:158)",
      "(long, unsigned long, animal) -> zoo::cage",
      "<dyn core::ops::Fn(u8) -> (u8, u8)>::call",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t columns = 6; columns < 100; columns++) {
      char text[256];
      name_fit(text, sizeof text, names[i], columns);
      assert_true(text_columns(text) <= columns);
      size_t plain = strcspn(text, "abcdefghijklmnopqrstuvwxyz");
      if (!text[plain] || !strncmp(text, "(…)", 5)) fail_msg("%zu columns: %s", columns, text);
    }
}

static void modules_stand_behind_names_that_leave_room(void **state) {
  (void)state;
  char text[1024];
  assert_string_equal(name_fit_module(text, sizeof text, "main", "", "node", 40), "main  [node]");
  assert_string_equal(name_fit_module(text, sizeof text, "main", "", "", 40), "main");
  assert_string_equal(name_fit_module(text, sizeof text, "f<int, int>(long)", "", "lib.so", 19),
                      "f<…>(…)  [lib.so]");
  assert_string_equal(name_fit_module(text, sizeof text, "parse_document", "", "lib.so", 16),
                      "parse_document");
  assert_string_equal(name_fit_module(text, sizeof text, "parse_document", " < +3 callers", "lib.so", 40),
                      "parse_document < +3 callers  [lib.so]");
  assert_string_equal(name_fit_module(text, sizeof text, "parse_document", " < +3 callers", "lib.so", 20),
                      "parse_… < +3 callers");
  assert_string_equal(name_fit_module(text, sizeof text, "f<int, int>(long) (f.cc:1)", "", "lib.so", 28),
                      "f<…>(…) (f.cc:1)  [lib.so]");
  assert_string_equal(name_fit_module(text, sizeof text, "parse_document (f.cc:1)", "", "lib.so", 20),
                      "parse_docu… (f.cc:1)");
}

/* Fits the names as rows of one table, and frees the texts. */
static void rows_fit(const char *const *names, const char *const *modules, size_t count, size_t columns,
                     const char *const *expected) {
  struct fitted_rows rows = {.row = NULL};
  for (size_t i = 0; i < count; i++)
    assert_int_equal(name_rows_add(&rows, names[i], "", modules ? modules[i] : ""), WN_OK);
  assert_int_equal(name_rows_fit(&rows, columns, true), WN_OK);
  for (size_t i = 0; i < count; i++) {
    assert_true(text_columns(rows.row[i].text) <= columns);
    if (expected) assert_string_equal(rows.row[i].text, expected[i]);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(rows.row[i].text, rows.row[k].text);
  }
  name_rows_free(&rows);
}

static void rows_of_a_table_differ(void **state) {
  (void)state;
  static const char *const stores[] = {"Store<std::map<std::string, std::vector<long>>>::add(int)",
                                       "Store<std::map<std::string, std::vector<int>>>::add(int)",
                                       "Store<std::map<std::wstring, std::vector<int>>>::add(int)", "main"};
  static const char *const expected[] = {"Store<…string…long…>::add(int)", "Store<…string…int…>::add(int)",
                                         "Store<…wstring…>::add(int)", "main"};
  static const char *const overloads[] = {"tree::insert(node const&, long)", "tree::insert(node const&, int)",
                                          "tree::insert(node*)"};
  static const char *const cut[] = {"a_plain_name_that_is_far_too_long_for_its_column_one",
                                    "a_plain_name_that_is_far_too_long_for_its_column_two"};
  static const char *const results[] = {"std::vector<int> zoo::feed<lion>(lion&)",
                                        "std::vector<long> zoo::feed<lion>(lion&)"};
  static const char *const qualified[] = {"zoo::animals_of_the_north::feed(lion const&)",
                                          "zoo::animals_of_the_north::feed(bear const&)",
                                          "zoo::animals_of_the_south::feed(bear const&)"};
  static const char *const without_zoo[] = {"…::animal…_of_the_north…lion", "…::animal…_of_the_north…bear",
                                            "…::animals_of_…_of_the_south"};
  static const char *const traits[] = {"<zoo::animal as zoo::Named>::name",
                                       "<zoo::animal as zoo::Known>::name"};
  static const char *const places[] = {"parse (one_folder_file.c:12)", "parse (two_folder_file.c:12)"};
  static const char *const same[] = {"parse_document", "parse_document"}, *const modules[] = {"a.so", "b.so"};
  static const char *const with_modules[] = {"parse_…  [a.so]", "parse_…  [b.so]"};
  rows_fit(stores, NULL, 4, 32, expected);
  for (size_t columns = 8; columns < 80; columns++) {
    rows_fit(stores, NULL, 4, columns, NULL);
    rows_fit(overloads, NULL, 3, columns, NULL);
    rows_fit(cut, NULL, 2, columns, NULL);
    rows_fit(results, NULL, 2, columns, NULL);
    rows_fit(traits, NULL, 2, columns, NULL);
    rows_fit(places, NULL, 2, columns, NULL);
    rows_fit(same, modules, 2, columns, NULL);
  }
  rows_fit(same, modules, 2, 15, with_modules);
  rows_fit(qualified, NULL, 3, 28, without_zoo);
  for (size_t columns = 8; columns < 80; columns++) rows_fit(qualified, NULL, 3, columns, NULL);
}

/* Thousands of brackets, and names longer than any buffer. */
static void monstrous_names_do_no_harm(void **state) {
  (void)state;
  static char name[20000];
  char text[300];
  for (int kind = 0; kind < 4; kind++) {
    for (size_t i = 0; i + 1 < sizeof name; i++)
      name[i] = (i % 5 ? "a<>()" : "<(>)o")[(i * 7 + (size_t)kind) % 5];
    memcpy(name, "operator", 8);
    for (size_t columns = 1; columns < 200; columns += 13) {
      name_fit(text, sizeof text, name, columns);
      assert_true(text_columns(text) <= columns);
    }
  }
  memset(name, '<', 2000);
  memset(name + 2000, '>', 2000);
  name_fit(text, sizeof text, name, 10);
  assert_true(text_columns(text) <= 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_lose_what_tells_least),
      cmocka_unit_test(places_stay_behind_names),
      cmocka_unit_test(no_name_shrinks_to_nothing),
      cmocka_unit_test(modules_stand_behind_names_that_leave_room),
      cmocka_unit_test(rows_of_a_table_differ),
      cmocka_unit_test(monstrous_names_do_no_harm),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
