/* Marshalling between Winnow and OCaml.
 *
 * samples/ has messages that OCaml 4.13 and 5.3 wrote, as hexadecimal text; WINNOW_SAMPLE_DATA in
 * the environment names a folder where marshal/ has more of them, as they are (*.bin). The other
 * cases compile exchange.ml, with ocamlopt or what OCAMLOPT in the environment names, and are skipped where there
 * is none. */
#include "gc/marshal/graph.h"

#include <dirent.h>
#include <unistd.h>

static char folder[] = "/tmp/winnow-marshal-XXXXXX";
static bool has_ocaml;

__attribute__((format(printf, 1, 2))) static int run(const char *format, ...) {
  char command[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  return system(command);
}

static int prepare(void **state) {
  const char *compiler = getenv("OCAMLOPT");
  (void)state;
  assert_non_null(mkdtemp(folder));
  has_ocaml = !run("cd %s && cp %s/exchange.ml . && %s exchange.ml -o exchange >/dev/null 2>&1", folder,
                   SOURCE, compiler ? compiler : "ocamlopt");
  if (!has_ocaml) printf("no ocamlopt: install the package ocaml-nox to exchange messages with OCaml\n");
  return 0;
}
static int clean(void **state) {
  (void)state;
  return run("rm -r %s", folder);
}

static FILE *file_of(const char *name, const char *mode) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  assert_non_null(file);
  return file;
}

/* OCaml 5 sets the two bits of the colour in long headers of blocks, which mean nothing. */
static bool is_same_byte(int ours, int theirs) { return ours == theirs || (ours | 3) == theirs; }

static void assert_same_files(const char *ours, const char *theirs) {
  FILE *a = file_of(ours, "rb"), *b = file_of(theirs, "rb");
  int byte;
  long at = 0;
  while ((byte = getc(a)) != EOF) {
    if (!is_same_byte(byte, getc(b))) fail_msg("byte %ld of %s and %s differ", at, ours, theirs);
    at++;
  }
  assert_int_equal(getc(b), EOF);
  fclose(a);
  fclose(b);
}

static void ocaml_reads_what_is_written(void **state) { /* V3 */
  (void)state;
  if (!has_ocaml) skip();
  struct journal of;
  journal_open(&of, NULL);
  FILE *file = file_of("ours.bin", "wb");
  is_for_ocaml = true;
  for (uint64_t round = 0; round < 60; round++) {
    WN_SCOPE(of.domain);
    uint64_t seed = round;
    wn_ref graph = random_graph(of.domain, &seed, round * round, 9);
    assert_int_equal(wn_marshal_write_file(of.domain, graph, 0, file), WN_OK);
  }
  is_for_ocaml = false;
  assert_int_equal(fclose(file), 0);
  assert_int_equal(run("cd %s && ./exchange rewrite ours.bin theirs.bin", folder), 0);
  assert_same_files("ours.bin", "theirs.bin");
  journal_close(&of);
}

static void what_ocaml_writes_is_read_and_written_again(void **state) { /* V4 */
  (void)state;
  if (!has_ocaml) skip();
  struct journal of;
  journal_open(&of, NULL);
  assert_int_equal(run("cd %s && ./exchange write ocaml.bin", folder), 0);
  FILE *in = file_of("ocaml.bin", "rb"), *out = file_of("again.bin", "wb");
  for (;;) {
    WN_SCOPE(of.domain);
    wn_ref value;
    wn_status status = wn_marshal_read_file(of.domain, in, WN_MARSHAL_OCAML_STRINGS, &value);
    if (status == WN_EIO) break;
    assert_int_equal(status, WN_OK);
    assert_int_equal(wn_marshal_write_file(of.domain, value, WN_MARSHAL_OCAML_STRINGS, out), WN_OK);
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
  assert_same_files("again.bin", "ocaml.bin");
  assert_int_equal(run("cd %s && ./exchange check again.bin", folder), 0);
  journal_close(&of);
}

/* ---- samples ---- */

static size_t read_hex(FILE *file, unsigned char *bytes, size_t most) {
  size_t size = 0;
  unsigned byte;
  while (size < most && fscanf(file, "%2x", &byte) == 1) bytes[size++] = (unsigned char)byte;
  assert_true(feof(file));
  return size;
}

static struct message load(const char *path) {
  enum { MOST = 1 << 16 };
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  struct message message = {malloc(MOST), 0};
  assert_non_null(message.bytes);
  message.size =
      strstr(path, ".hex") ? read_hex(file, message.bytes, MOST) : fread(message.bytes, 1, MOST, file);
  fclose(file);
  return message;
}

static void assert_same_message(const char *name, struct message ours, struct message theirs) {
  assert_int_equal(ours.size, theirs.size);
  for (size_t i = 0; i < ours.size; i++)
    if (!is_same_byte(((unsigned char *)ours.bytes)[i], ((unsigned char *)theirs.bytes)[i]))
      fail_msg("%s: byte %zu differs", name, i);
}

/* What the names of the files say of them. */
static const struct {
  const char *part, *error;
} refused[] = {{"closure", "closure"}, {"compressed", "compressed"}};

static void check_sample(wn_domain *domain, const char *name, struct message message) {
  WN_SCOPE(domain);
  wn_ref value;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strstr(name, refused[i].part)) {
      assert_int_equal(wn_marshal_read(domain, message.bytes, message.size, 0, &value, NULL), WN_EFORMAT);
      assert_non_null(strstr(wn_last_error(), refused[i].error));
      return;
    }
  value = read_flags(domain, message, WN_MARSHAL_OCAML_STRINGS);
  unsigned flags = strstr(name, "nosharing") ? WN_MARSHAL_NO_SHARING : 0;
  struct message again = write_flags(domain, value, flags | WN_MARSHAL_OCAML_STRINGS);
  if (!strstr(name, "4.13-bigarray-native")) assert_same_message(name, again, message); /* 5.3's is shorter */
  free(again.bytes);
  there_and_back(domain, read_message(domain, message), flags);
}

static size_t check_samples(const char *from, const char *kind) {
  struct journal of;
  size_t count = 0;
  DIR *entries = opendir(from);
  assert_non_null(entries);
  journal_open(&of, NULL);
  for (struct dirent *entry; (entry = readdir(entries));) {
    char path[1000];
    if (!strstr(entry->d_name, kind)) continue;
    snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
    struct message message = load(path);
    check_sample(of.domain, entry->d_name, message);
    free(message.bytes);
    count++;
  }
  closedir(entries);
  journal_close(&of);
  return count;
}

static void messages_of_two_versions_of_ocaml_are_read(void **state) { /* V4 */
  (void)state;
  assert_int_equal(check_samples(SOURCE "/samples", ".hex"), 24);
  const char *more = getenv("WINNOW_SAMPLE_DATA");
  char path[4096];
  snprintf(path, sizeof path, "%s/marshal", more ? more : "/nowhere");
  if (access(path, R_OK))
    printf("no folder marshal in WINNOW_SAMPLE_DATA: no more samples are read\n");
  else
    assert_true(check_samples(path, ".bin") > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_of_two_versions_of_ocaml_are_read),
      cmocka_unit_test(ocaml_reads_what_is_written),
      cmocka_unit_test(what_ocaml_writes_is_read_and_written_again),
  };
  return cmocka_run_group_tests(tests, prepare, clean);
}
/* SPDX-License-Identifier: MIT */
