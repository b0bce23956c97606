/* Snapshots that a host tells by winnow/snapshot_writer.h, as the reader has them. */
#include "retention/dominators.h"
#include "retention/names.h"
#include "support/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/snapshot_writer.h>

static char path[4096];

/* A heap of three blocks: a root leads to a pair, this to a string and to a buffer with memory outside. */
struct host {
  int told_by; /* the process that told the roots */
  int error;   /* to fail with; 0: none */
  bool refers_wrongly;
};

static void roots(wn_snapshot *snapshot, void *context) {
  ((struct host *)context)->told_by = getpid();
  wn_snapshot_root(snapshot, WN_ROOT_GLOBAL, "table", 0x1000);
  wn_snapshot_root(snapshot, WN_ROOT_STACK, NULL, 0x1040);
  wn_snapshot_root(snapshot, WN_ROOT_STACK, NULL, 0x1000);
}

static void blocks(wn_snapshot *snapshot, void *context) {
  const struct host *host = context;
  wn_snapshot_type(snapshot, 1, "pair");
  wn_snapshot_block(snapshot, 0x1000, &(wn_block_info){.type = 1, .words = 2, .name = "first"});
  wn_snapshot_reference(snapshot, 0, 0x1040);
  wn_snapshot_reference(snapshot, 1, 0x1080);
  if (host->error) wn_snapshot_fail(snapshot, host->error);
  wn_snapshot_block(snapshot, 0x1040, &(wn_block_info){.type = 2, .words = 5});
  wn_snapshot_block(snapshot, 0x1080, &(wn_block_info){.type = 3, .words = 2, .outside = 1000});
  if (host->refers_wrongly) wn_snapshot_reference(snapshot, 0, 0x1000);
  wn_snapshot_type(snapshot, 2, "string");
  wn_snapshot_type(snapshot, 3, "buffer");
  wn_snapshot_field(snapshot, 1, 1, "rest");
}

static void load(struct graph *graph) {
  FILE *file = fopen(path, "rb");
  char bytes[65536];
  size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  assert_int_equal(graph_load(graph, bytes, count), WN_OK);
}

static void a_host_tells_its_heap(void **state) {
  struct host host = {0};
  const wn_snapshot_source source = {"toy", roots, blocks, &host};
  struct graph graph;
  struct dominators dominators;
  wn_snapshot *snapshot;
  char name[NAME_MOST];
  (void)state;
  assert_int_equal(wn_snapshot_begin(path, &source, &snapshot), WN_OK);
  assert_int_equal(host.told_by, getpid());
  assert_int_equal(wn_snapshot_end(snapshot), WN_OK);
  load(&graph);
  assert_true(graph.complete);
  assert_string_equal(graph.language, "toy");
  assert_int_equal(graph.holder_count, 2);
  assert_string_equal(holder_name(&graph, NODE_HOLDERS, name), "global \"table\"");
  assert_string_equal(holder_name(&graph, NODE_HOLDERS + 1, name), "handles");
  assert_int_equal(graph.node_count - graph.first_block, 3);
  assert_string_equal(block_name(&graph, graph.first_block, name), "pair first");
  assert_string_equal(graph_field_name(&graph, 1, 1), "rest");
  assert_true(dominators_find(&dominators, &graph));
  assert_int_equal(dominators.nodes[NODE_ALL].retained, 24 + 48 + 24 + 1000);
  assert_int_equal(dominators.nodes[graph.first_block].retained,
                   24 + 1024); /* the string is the stack's, too */
  dominators_free(&dominators);
  graph_free(&graph);
}

static void what_cannot_be_told_is_no_file(void **state) {
  struct host host = {.error = ENOMEM};
  const wn_snapshot_source source = {"toy", roots, blocks, &host}, none = {"toy", NULL, blocks, &host};
  wn_snapshot *snapshot;
  (void)state;
  unlink(path);
  assert_int_equal(wn_snapshot_begin(path, &source, &snapshot), WN_OK);
  assert_int_equal(wn_snapshot_end(snapshot), WN_EIO);
  assert_non_null(strstr(wn_last_error(), strerror(ENOMEM)));
  assert_true(access(path, F_OK));
  static const int errors[] = {-1, 255, 256, 100000};
  for (int i = 0; i < 4; i++) {
    host.error = errors[i];
    assert_int_equal(wn_snapshot_begin(path, &source, &snapshot), WN_OK);
    assert_int_equal(wn_snapshot_end(snapshot), WN_EIO);
    assert_true(access(path, F_OK));
  }
  host = (struct host){.refers_wrongly = true};
  assert_int_equal(wn_snapshot_begin(path, &source, &snapshot), WN_OK);
  assert_int_equal(wn_snapshot_end(snapshot), WN_EIO);
  assert_int_equal(wn_snapshot_begin("/no/such/folder/file", &source, &snapshot), WN_EIO);
  assert_int_equal(wn_snapshot_begin(NULL, &source, &snapshot), WN_EINVAL);
  assert_int_equal(wn_snapshot_begin(path, &none, &snapshot), WN_EINVAL);
  assert_int_equal(wn_snapshot_begin(path, &source, NULL), WN_EINVAL);
  assert_int_equal(wn_snapshot_begin(path, NULL, &snapshot), WN_EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_tells_its_heap),
      cmocka_unit_test(what_cannot_be_told_is_no_file),
  };
  snprintf(path, sizeof path, "%s/test_host_snapshot.%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
           (long)getpid());
  int code = RUN_TESTS(tests);
  unlink(path);
  return code;
}
/* SPDX-License-Identifier: MIT */
