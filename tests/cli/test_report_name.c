/* Names that are too long for their column. */
#include "support/test.h"

#include "cli/report_name.h"
#include "cli/text.h"
#include <string.h>

static void names_lose_what_tells_least(void **state) {
  (void)state;
  static const struct {
    size_t columns;
    const char *name, *expected;
  } known[] = {
      {40, "main", "main"},
      {24, "std::vector<int>::push_back(int const&)", "std::vector<…>::push_ba…"},
      {30, "std::vector<int>::push_back(int const&)", "std::vector<…>::push_back(…)"},
      {38, "std::vector<int>::push_back(int const&)", "std::vector<…>::push_back(int const&)"},
      {39, "std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(int const&)"},
      {41, "std::map<int, std::vector<char, std::allocator<char> > >::find(int)",
       "std::map<int, std::vector<…> >::find(int)"},
      {64, "std::map<int, std::vector<char, std::allocator<char> > >::find(int)",
       "std::map<int, std::vector<char, std::allocator<…> > >::find(int)"},
      {26, "std::map<int, std::vector<char, std::allocator<char> > >::find(int)", "std::map<…>::find(int)"},
      {30, "f<int, long>(g<short>) and some more", "f<…>(g<…>) and some more"},
      {22, "zoo::operator<(zoo::animal const&, zoo::animal const&)", "zoo::operator<(…)"},
      {22, "zoo::operator<< <char>(zoo::stream&)", "zoo::operator<< <…>(…)"},
      {22, "zoo::operator<=>(zoo::animal, zoo::animal)", "zoo::operator<=>(…)"},
      {32, "zoo::pointer<animal>::operator->(long, long)", "zoo::pointer<…>::operator->(…)"},
      {28, "zoo::call<int>::operator()(int, int) const", "zoo::call<…>::operator()(…)…"},
      {33, "zoo::call<int>::operator()(int, int) const", "zoo::call<…>::operator()(…) const"},
      {38, "(anonymous namespace)::open(char const*, int)", "(anonymous namespace)::open(…)"},
      {40, "cooperator<int, unsigned long, std::string>::run", "cooperator<…>::run"},
      {20, "std::array<int, (3>2)>::at(unsigned long)", "std::array<…>::at(…)"},
      {12, "broken<<<(((name", "broken<<<((…"},
      {12, "broken>>>)))name", "broken>>>))…"},
      {30, "base::result<int> zoo::keeper::feed<lion, 3>(lion&)", "zoo::keeper::feed<…>(…)"},
      {44, "base::result<int> zoo::keeper::feed<lion, 3>(lion&)",
       "base::result<…> zoo::keeper::feed<…>(lion&)"},
      {24, "zoo::cage::operator unsigned long() const", "zoo::cage::operator uns…"},
      {30, "int (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<…>(…)"},
      {12, "<animal as zoo::Named>::name", "animal::name"},
      {12, "a plain name without any parameters", "a plain nam…"},
      {8, "größe_einer_kiste", "größe_e…"},
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
      cmocka_unit_test(modules_stand_behind_names_that_leave_room),
      cmocka_unit_test(monstrous_names_do_no_harm),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
