/* Which functions only allocate for their callers, and who owns what they allocate. */
#include "analysis/named_story.h"

#include "analysis/load/call_tree.h"
#include "analysis/load/wrappers.h"
#include <string.h>

/* What a function allocated itself, in samples. */
static uint64_t self_of(const struct samples *samples, const struct names *names, const char *name) {
  struct call_tree tree;
  uint64_t self = 0;
  assert_int_equal(call_tree_build(samples, names, BY_FUNCTION, NULL, everything, NULL, &tree), WN_OK);
  for (size_t i = 0; i < tree.group_count; i++)
    if (!strcmp(strings_text(names->strings, tree.labels[tree.groups[i].label].function), name))
      self = tree.groups[i].self.bytes.samples;
  call_tree_destroy(&tree);
  return self;
}

static void names_of_wrappers_are_known_with_and_without_what_varies(void **state) {
  (void)state;
  static const char *const known[] = {
      "xmalloc",
      "g_malloc0",
      "jv_mem_alloc",
      "gmalloc",
      "alloc::alloc::alloc",
      "__rust_alloc",
      "operator new(unsigned long)",
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > std::operator+<char, "
      "std::char_traits<char>, std::allocator<char> >(char const*, std::__cxx11::basic_string<char, "
      "std::char_traits<char>, std::allocator<char> >&&)",
      "std::operator+(std::string const&, char)",
      "std::__cxx11::to_string(int)",
      "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::overflow(int)",
      "operator new[](unsigned long, std::align_val_t)",
      "Arena::operator new(unsigned long)",
      "std::__new_allocator<int>::allocate(unsigned long, void const*)",
      "__gnu_cxx::new_allocator<std::pair<int const, std::vector<long> > >::allocate(unsigned long, void "
      "const*)",
      "std::allocator_traits<std::allocator<char> >::allocate(std::allocator<char>&, unsigned long)",
      "std::_Vector_base<Order, std::allocator<Order> >::_M_allocate(unsigned long)",
      "std::__allocated_ptr<std::allocator<int> > std::__allocate_guarded<std::allocator<int> "
      ">(std::allocator<int>&)",
      "(anonymous namespace)::PoolAllocator::allocate(unsigned long)",
      "malloc",
      "std::vector<int>::push_back(int const&)",
      "std::thread::_M_start_thread(std::unique_ptr<std::thread::_State>, void (*)())",
      "decltype (::new((void*)(0)) std::thread((declval<void (&)(int)>)())) std::construct_at<std::thread, "
      "void "
      "(&)(int)>(std::thread*, void (&)(int))",
      "std::__future_base::_Async_state_impl<std::thread::_Invoker<std::tuple<int (*)()> >, "
      "int>::_Async_state_impl(std::thread::_Invoker<std::tuple<int (*)()> >&&)",
      "std::thread::lifecycle::spawn_unchecked::<shop::main::{closure#0}, ()>",
      "void std::vector<int>::_M_realloc_insert<int>(int)",
      "void std::__cxx11::basic_string<char>::_M_construct<char const*>(char const*, char const*)",
      "std::__1::basic_string<char>::append(char const*)",
      "std::shared_ptr<Order> std::make_shared<Order, int>(int&&)",
      "<alloc::alloc::Global>::alloc_impl_runtime",
      "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
      "<alloc::vec::Vec<u8> as core::iter::FromIterator<core::option::Option<u8>>>::from_iter",
      "alloc::boxed::Box<T>::new",
      "<std::alloc::System as core::alloc::global::GlobalAlloc>::alloc",
      "__rustc::__rdl_alloc",
      "xmlStrdup",
      "llvm::SmallVectorBase<unsigned int>::grow_pod(void*, unsigned long, unsigned long)",
      "std::sys::alloc::unix::aligned_malloc",
      "<hashbrown::raw::RawTable<(u64, alloc::string::String)>>::reserve::<{closure#0}>",
      "<std::collections::hash::map::HashMap<u64, alloc::string::String>>::insert",
      "<[u8]>::to_vec_in::<alloc::alloc::Global>",
      "<[alloc::string::String]>::join::<&str>",
      "<str>::to_uppercase",
      "<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>",
      "<alloc::vec::Vec<shop::Order> as core::convert::From<&[shop::Order]>>::from",
      "<alloc::vec::Vec<f64> as alloc::vec::spec_from_iter_nested::SpecFromIterNested<f64, "
      "core::iter::adapters::map::Map<core::ops::range::Range<usize>, <shop::Ring<300> as "
      "shop::Shape>::outline::{closure#0}>>>::from_iter",
      "<shop::Order as alloc::vec::spec_from_elem::SpecFromElem>::from_elem::<alloc::alloc::Global>",
      "<shop::Order as alloc::string::SpecToString>::spec_to_string",
      "<shop::Lines as core::iter::traits::iterator::Iterator>::collect::<alloc::vec::Vec<u64>>",
      "<shop::File as std::io::Read>::read_to_end",
      "<shop::Counting as core::alloc::global::GlobalAlloc>::alloc",
      "<<alloc::boxed::Box<str> as core::convert::From<&str>>::from as "
      "core::ops::function::FnOnce<(&str,)>>::call_once",
      "<fn(shop::Order) as core::ops::function::FnOnce<(shop::Order,)>>::call_once",
      "std::fs::read_to_string::inner",
      "std::thread::builder::Builder::spawn_unchecked",
      "<std::io::buffered::bufwriter::BufWriter<std::io::stdio::StdoutRaw>>::with_capacity",
      "std::basic_streambuf<char, std::char_traits<char> >::xsputn(char const*, long)",
      "std::ostream::operator<<(int)",
      "std::ostream& std::ostream::_M_insert<long>(long)",
      "void "
      "std::_Function_base::_Base_manager<work(int)::{lambda(int)#1}>::_M_create<work(int)::{lambda(int)#1} "
      ">(std::_Any_data&, work(int)::{lambda(int)#1}&&, std::integral_constant<bool, false>)",
      "std::basic_ostream<char, std::char_traits<char>>& std::operator<< <std::char_traits<char>>("
      "std::basic_ostream<char, std::char_traits<char>>&, char const*)",
      "std::back_insert_iterator<std::vector<int>>::operator=(int&&)",
      "std::insert_iterator<std::set<int>> std::copy<int*, std::insert_iterator<std::set<int>>>(int*, int*, "
      "std::insert_iterator<std::set<int>>)",
      "std::priority_queue<int, std::vector<int, std::allocator<int>>, std::less<int>>::push(int const&)",
      "std::pair<Item*, long> std::get_temporary_buffer<Item>(long)",
      "std::_Temporary_buffer<Item*, Item>::_Temporary_buffer(Item*, long)",
      "_gfortran_string_trim",
      "_gfortrani_xmallocarray",
      "my_shapes::__copy_my_shapes_Big",
      "_cgo_0742e3e0f5dd_Cfunc_strdup",
      "example.com/shop._Cfunc_CString",
      "main._cgo_cmalloc.abi0",
      "runtime.asmcgocall.abi0",
      "runtime.cgocall",
  };
  static const char *const others[] = {
      "",
      "main",
      "f",
      "parse",
      "allocate_orders",
      "new_order",
      "Order::Order()",
      "std::thread::_State_impl<main::{lambda()#1}>::_M_run()",
      "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
      "void std::sort<int*>(int*, int*)",
      "std::vector_of_mine::grow()",
      "core::Parser::parse()",
      "alloc::Pool::refill()",
      "<shop::Item<u64>>::fill",
      "<shop::Item<u64> as core::clone::Clone>::clone",
      "<<shop::Item as shop::Store>::Key as core::clone::Clone>::clone",
      "<shop::Log>::append",
      "<alloc::string::String as core::convert::From<shop::Order>>::from",
      "<f64 as core::ops::arith::Mul<shop::Matrix>>::mul",
      "<shop::Lines as core::iter::traits::iterator::Iterator>::next",
      "<shop::Lines as core::iter::traits::iterator::Iterator>::next::{closure#0}",
      "<shop::File as std::io::Read>::read",
      "<[u8] as shop::Parse>::parse",
      "<dyn shop::Shape as core::fmt::Debug>::fmt",
      "<&shop::Order as core::convert::From<u8>>::from",
      "<shop::main::{closure#2} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}",
      "std::sys::backtrace::__rust_begin_short_backtrace::<shop::main::{closure#2}, usize>",
      "<lambda(int)>::operator()",
      "shapes::clone",
      "shapes::__copy_circles_Big",
      "shapes::__copy_shapes",
      "<unfinished as",
      "<",
      "operator+(Text const&, Text const&)",
      "Text::operator()(int)",
      "operator new_thing(int)",
      "Loader::allocate(int)",
      "xmalloc_statistics",
      "runtime.cgocallback",
      "main.load_Cfunc_table",
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!wrapper_is_known(known[i])) fail_msg("%s is not known", known[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (wrapper_is_known(others[i])) fail_msg("%s is taken for a wrapper", others[i]);
}

static const struct named_node program[] = {
    {NULL, 0},      {"main", 0},   {"orders", 1},  {"users", 1},      {"xmalloc", 2},
    {"xmalloc", 3}, {"direct", 1}, {"xmalloc", 0}, {"logs", 1},       {"safe_malloc", 8},
    {"xmalloc", 9}, {"nodes", 2},  {"nodes", 3},   {"get_memory", 2}, {"get_memory", 3}};

static struct samples *run_program(void) {
  struct trace_writer *writer = named_story_begin(1e-3, program);
  uint64_t block = 0;
  for (int i = 0; i < 30; i++) story_next(writer, &block, 100 + block % 7, 4); /* orders */
  for (int i = 0; i < 20; i++) story_next(writer, &block, 50 + block % 5, 5);  /* users */
  for (int i = 0; i < 10; i++) story_next(writer, &block, 64, 6);              /* direct */
  for (int i = 0; i < 5; i++) story_next(writer, &block, 64, 7);               /* xmalloc */
  for (int i = 0; i < 8; i++) story_next(writer, &block, 80, 10);              /* logs */
  for (int i = 0; i < 6; i++) story_next(writer, &block, 24 + block % 9, 13);
  for (int i = 0; i < 6; i++) story_next(writer, &block, 24 + block % 9, 14);
  return story_load(writer);
}

static void callers_own_what_wrappers_allocate(void **state) {
  (void)state;
  struct samples *samples = run_program();
  struct names names;
  struct wrappers wrappers;
  story_names(samples, &names);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){.none = true}, &wrappers),
                   WN_OK);
  assert_int_equal(wrappers.count, 0);
  assert_int_equal(self_of(samples, &names, "xmalloc"), 63);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){0}, &wrappers), WN_OK);
  assert_int_equal(self_of(samples, &names, "orders"), 30);
  assert_int_equal(self_of(samples, &names, "users"), 20);
  assert_int_equal(self_of(samples, &names, "direct"), 10);
  assert_int_equal(self_of(samples, &names, "logs"), 8);
  assert_int_equal(self_of(samples, &names, "xmalloc"), 5); /* the stack has nothing else */
  assert_int_equal(self_of(samples, &names, "get_memory"), 12);
  assert_true(wrappers.count >= 1);
  assert_string_equal(strings_text(names.strings, wrappers.functions[0]), "xmalloc");
  wrappers_destroy(&wrappers);
  names_destroy(&names);
  samples_free(samples);
}

static void a_user_names_wrappers_and_is_told_of_names_that_no_stack_has(void **state) {
  (void)state;
  struct samples *samples = run_program();
  struct names names;
  struct wrappers wrappers;
  const char *const named[] = {"get_memory", NULL}, *const unknown[] = {"get_memory", "nonsense", NULL};
  story_names(samples, &names);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){.named = unknown}, &wrappers),
                   WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "nonsense"));
  wrappers_destroy(&wrappers);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){.named = named}, &wrappers),
                   WN_OK);
  assert_int_equal(self_of(samples, &names, "get_memory"), 0);
  assert_int_equal(self_of(samples, &names, "orders"), 36);
  assert_int_equal(self_of(samples, &names, "users"), 26);
  wrappers_destroy(&wrappers);
  names_destroy(&names);
  samples_free(samples);
}

/* ---- by shape ---- */

enum { CALLERS = 8 };

/* What else a function of the shape has: bytes of code, and what it does besides. */
struct code {
  uint32_t bytes; /* 0: unknown */
  bool calls_another, grows;
  uint64_t blocks;
};

static void set_code(const struct samples *samples, struct names *names, const char *function,
                     uint32_t bytes) {
  for (uint32_t node = 1; node <= source_stack_count(samples->source); node++) {
    struct frame *frame = &names->frame[names->first[node]];
    if (!strcmp(strings_text(names->strings, frame->function), function)) frame->bytes = bytes;
  }
}

/* Functions main > caller_k > inner; `sizes` different sizes, from the first `callers` callers. */
static bool is_found_with(const char *inner, int callers, int sizes, struct code code) {
  static struct named_node nodes[3 + 3 * CALLERS] = {{NULL, 0}, {"main", 0}};
  static char names[CALLERS][16];
  uint32_t count = 2;
  for (uint32_t i = 0; i < CALLERS; i++) {
    snprintf(names[i], sizeof names[i], "caller_%u", i);
    nodes[count++] = (struct named_node){names[i], 1};
    nodes[count++] = (struct named_node){inner, 2 + 3 * i};
    nodes[count++] = (struct named_node){"worker", 3 + 3 * i};
  }
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  for (uint64_t block = 1; block <= code.blocks; block++)
    story_alloc(writer, block, block, 40 + 8 * (block % (uint64_t)sizes),
                3 + 3 * (uint32_t)(block / 3 % (uint64_t)callers));
  if (code.grows) {
    struct trace_resize resize = {
        .time_ns = 101, .thread = 1, .stack = 3, .block = code.blocks, .size = 4000, .words = 501};
    tree_write_resize(writer, &resize);
  }
  if (code.calls_another) story_alloc(writer, 102, 102, 40, 4);
  struct samples *samples = story_load(writer);
  struct names resolved;
  struct wrappers wrappers;
  story_names(samples, &resolved);
  set_code(samples, &resolved, inner, code.bytes);
  assert_int_equal(wrappers_find(samples, &resolved, &(struct wrappers_options){0}, &wrappers), WN_OK);
  bool found = !self_of(samples, &resolved, inner);
  wrappers_destroy(&wrappers);
  names_destroy(&resolved);
  samples_free(samples);
  return found;
}

static bool is_found(const char *inner, int callers, int sizes, bool calls_another) {
  return is_found_with(inner, callers, sizes, (struct code){.calls_another = calls_another, .blocks = 100});
}

static void functions_that_only_pass_malloc_on_are_found_by_their_shape(void **state) {
  (void)state;
  assert_true(is_found("lib+0x12", CALLERS, 8, false));
  assert_true(is_found("pool_alloc", 3, 4, false));
  assert_true(is_found("pool_alloc", 2, 2, false));
  assert_true(is_found("myalloc", 2, 1, false)); /* whose name says nothing else */
  assert_true(is_found("Strings::zcalloc(unsigned long)", 2, 1, false));
  assert_false(is_found("myalloc", 1, 8, false));
  assert_false(is_found("myalloc", 2, 1, true));
  assert_false(is_found("getmem", 3, 3, false));
  assert_false(is_found("dealloc", 3, 3, false));
  assert_false(is_found("node_alloc", CALLERS, 1, false));
  assert_false(is_found("nodeAlloc", CALLERS, 1, false));
  assert_false(is_found("Node::alloc()", CALLERS, 1, false));
  assert_false(is_found("parse_record", CALLERS, 8, false)); /* it is what the reader looks for */
  assert_false(is_found("lib+0x12", 3, 8, false));           /* few callers */
  assert_false(is_found("lib+0x12", CALLERS, 1, false));     /* one size: a constructor */
  assert_false(is_found("alloc_node", CALLERS, 1, false));
  assert_false(is_found("alloc_orders", 1, 8, false));  /* its caller is shown beside it anyway */
  assert_false(is_found("lib+0x12", CALLERS, 8, true)); /* it works for a living */
  assert_false(is_found("pool_alloc", CALLERS, 8, true));
}

static bool is_found_by_code(const char *inner, struct code code) {
  return is_found_with(inner, CALLERS, 8, code);
}

static void functions_with_room_for_nothing_but_a_call_are_found_whatever_their_names(void **state) {
  (void)state;
  assert_true(is_found_by_code("make_copy", (struct code){.bytes = 59, .blocks = 100}));
  assert_true(is_found_by_code("xmlStrdup", (struct code){.bytes = 96, .blocks = 100}));
  assert_false(is_found_by_code("parse_record", (struct code){.bytes = 97, .blocks = 100}));
  assert_false(is_found_by_code("parse_record", (struct code){.bytes = 4000, .blocks = 100}));
  assert_false(is_found_by_code("parse_record", (struct code){.bytes = 0, .blocks = 100}));
  assert_false(is_found_by_code("strbuf_grow", (struct code){.bytes = 78, .grows = true, .blocks = 100}));
  assert_false(
      is_found_by_code("main_loop", (struct code){.bytes = 78, .calls_another = true, .blocks = 100}));
  assert_true(is_found_by_code("make_copy", (struct code){.bytes = 59, .blocks = 30}));
  assert_false(is_found_by_code("caml_sys_getenv", (struct code){.bytes = 72, .blocks = 29}));
  assert_false(is_found_with("node_new", 5, 8, (struct code){.bytes = 59, .blocks = 100}));
  assert_false(is_found_with("node_new", CALLERS, 5, (struct code){.bytes = 59, .blocks = 100}));
  assert_true(is_found_by_code("lib+0x12", (struct code){.bytes = 512, .blocks = 100}));
  assert_false(is_found_by_code("lib+0x12", (struct code){.bytes = 513, .blocks = 100}));
}

/* As git's alloc_filespec, which ends in the name of a file. */
static void a_name_that_says_what_is_allocated_needs_many_callers(void **state) {
  (void)state;
  assert_false(is_found("alloc_filespec", 5, 8, false));
  assert_true(is_found("allocHungoffUses", 6, 8, false));
  assert_true(is_found("Arena::allocate(unsigned long)", 2, 2, false));
}

/* Places are those in the function, for all its callers, and where it is inlined too. */
static void a_function_that_calls_a_wrapper_from_one_place_is_one(void **state) {
  (void)state;
  static struct named_node nodes[2 + 3 * CALLERS] = {{NULL, 0}, {"main", 0}};
  static char callers[CALLERS][16];
  uint32_t count = 2;
  for (uint32_t i = 0; i < CALLERS; i++) {
    snprintf(callers[i], sizeof callers[i], "caller_%u", i);
    nodes[count++] = (struct named_node){callers[i], 1};
    nodes[count++] = (struct named_node){"bitmap_alloc", 2 + 3 * i};
    nodes[count++] = (struct named_node){"xmalloc", 3 + 3 * i};
  }
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  for (uint64_t block = 1; block <= 100; block++)
    story_alloc(writer, block, block, 40 + 8 * (block % 8), 4 + 3 * (uint32_t)(block % CALLERS));
  struct samples *samples = story_load(writer);
  struct names names;
  struct wrappers wrappers;
  story_names(samples, &names);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){0}, &wrappers), WN_OK);
  assert_int_equal(self_of(samples, &names, "bitmap_alloc"), 0);
  wrappers_destroy(&wrappers);
  names_destroy(&names);
  samples_free(samples);
}

/* As sqlite3MemMalloc, which has no name in a stripped library. */
static void the_inside_of_a_wrapper_is_none_of_the_programs(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{NULL, 0},       {"main", 0}, {"load", 1},    {"g_malloc", 2},
                                            {"lib+0x12", 3}, {"hook", 3}, {"lib+0x34", 5}};
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 20; i++) story_next(writer, &block, 64, 4);
  for (int i = 0; i < 5; i++) story_next(writer, &block, 64, 6);
  struct samples *samples = story_load(writer);
  struct names names;
  struct wrappers wrappers;
  story_names(samples, &names);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){0}, &wrappers), WN_OK);
  assert_int_equal(self_of(samples, &names, "load"), 20);
  assert_int_equal(self_of(samples, &names, "lib+0x12"), 0);
  assert_int_equal(self_of(samples, &names, "lib+0x34"), 5); /* the hook does more */
  wrappers_destroy(&wrappers);
  names_destroy(&names);
  samples_free(samples);
}

/* Rust's runtime calls main by one, and fmt of the program's types by the other. */
static void what_a_library_calls_back_is_the_programs(void **state) {
  (void)state;
  static const struct named_node nodes[] = {
      {NULL, 0},
      {"std::rt::lang_start", 0},
      {"core::ops::function::FnOnce::call_once", 1},
      {"n::main", 2},
      {"alloc::alloc::alloc", 3},
      {"core::fmt::write", 3},
      {"<n::Order as core::fmt::Display>::fmt", 5},
      {"alloc::alloc::alloc", 6},
      {"<&mut alloc::string::String as core::fmt::Write>::write_str", 5},
      {"alloc::alloc::alloc", 8}};
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 20; i++) story_next(writer, &block, 64, 4);
  for (int i = 0; i < 5; i++) story_next(writer, &block, 64, 7);
  for (int i = 0; i < 3; i++) story_next(writer, &block, 64, 9);
  struct samples *samples = story_load(writer);
  struct names names;
  struct wrappers wrappers;
  story_names(samples, &names);
  assert_int_equal(wrappers_find(samples, &names, &(struct wrappers_options){0}, &wrappers), WN_OK);
  assert_int_equal(self_of(samples, &names, "n::main"), 23);
  assert_int_equal(self_of(samples, &names, "<n::Order as core::fmt::Display>::fmt"), 5);
  wrappers_destroy(&wrappers);
  names_destroy(&names);
  samples_free(samples);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_library_calls_back_is_the_programs),
      cmocka_unit_test(the_inside_of_a_wrapper_is_none_of_the_programs),
      cmocka_unit_test(names_of_wrappers_are_known_with_and_without_what_varies),
      cmocka_unit_test(callers_own_what_wrappers_allocate),
      cmocka_unit_test(a_user_names_wrappers_and_is_told_of_names_that_no_stack_has),
      cmocka_unit_test(functions_that_only_pass_malloc_on_are_found_by_their_shape),
      cmocka_unit_test(functions_with_room_for_nothing_but_a_call_are_found_whatever_their_names),
      cmocka_unit_test(a_name_that_says_what_is_allocated_needs_many_callers),
      cmocka_unit_test(a_function_that_calls_a_wrapper_from_one_place_is_one),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
