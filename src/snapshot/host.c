/* Snapshots that another runtime's heap is told for: snapshot_writer.h. */
#include "base/error.h"
#include "base/metadata.h"
#include "snapshot/file.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <winnow/snapshot_writer.h>

enum { ROOT_NAME_MOST = 256 };

struct wn_snapshot {
  struct snapshot_file file;
  wn_snapshot_source source;
  long copy;
  uint32_t holder; /* of the last root; 0: there was none */
  bool refers;     /* the last block may have references */
  wn_root_kind kind;
  char name[ROOT_NAME_MOST]; /* with the kind, of that holder */
};

static void host_write_blocks(void *context) {
  wn_snapshot *snapshot = context;
  snapshot->source.blocks(snapshot, snapshot->source.context);
  snapshot_end(&snapshot->file.writer);
}

static wn_status host_begin(wn_snapshot *snapshot, const char *path) {
  const wn_snapshot_source *source = &snapshot->source;
  wn_status status = snapshot_file_open(&snapshot->file, path, source->language);
  if (status) return snapshot_file_close(&snapshot->file, status);
  source->roots(snapshot, source->context);
  snapshot->copy = snapshot_file_copy(&snapshot->file, host_write_blocks, snapshot);
  if (snapshot->copy < 0) host_write_blocks(snapshot);
  return WN_OK;
}

/* ---- public ---- */

wn_status wn_snapshot_begin(const char *path, const wn_snapshot_source *source, wn_snapshot **snapshot) {
  if (!source || !source->roots || !source->blocks || !snapshot)
    return error_set(WN_EINVAL, "heap snapshot: an argument is NULL");
  wn_snapshot *made = metadata_map(sizeof *made);
  if (!made) return error_set(WN_ENOMEM, "heap snapshot: no memory for its tables");
  made->source = *source;
  wn_status status = host_begin(made, path);
  if (status) return metadata_unmap(made, sizeof *made), status;
  *snapshot = made;
  return WN_OK;
}

wn_status wn_snapshot_end(wn_snapshot *snapshot) {
  wn_status status = snapshot_file_wait(&snapshot->file, snapshot->copy);
  status = snapshot_file_close(&snapshot->file, status);
  metadata_unmap(snapshot, sizeof *snapshot);
  return status;
}

void wn_snapshot_root(wn_snapshot *snapshot, wn_root_kind kind, const char *name, uintptr_t block) {
  static const enum holder_kind kinds[] = {[WN_ROOT_STACK] = HOLDER_HANDLES,
                                           [WN_ROOT_LANGUAGE] = HOLDER_ROOTS,
                                           [WN_ROOT_GLOBAL] = HOLDER_GLOBALS,
                                           [WN_ROOT_FINALISER] = HOLDER_FINALISERS,
                                           [WN_ROOT_PIN] = HOLDER_PINS};
  char now[ROOT_NAME_MOST];
  snprintf(now, sizeof now, "%s", name ? name : "");
  if (!snapshot->holder || snapshot->kind != kind || strcmp(snapshot->name, now) != 0) {
    memcpy(snapshot->name, now, sizeof now);
    snapshot->kind = kind;
    snapshot_holder(&snapshot->file.writer, ++snapshot->holder, kinds[kind], 0, now);
  }
  snapshot_root(&snapshot->file.writer, snapshot->holder, block);
}

void wn_snapshot_block(wn_snapshot *snapshot, uintptr_t at, const wn_block_info *info) {
  enum block_shape shape = info->weak ? SHAPE_WEAK : info->outside ? SHAPE_CUSTOM : SHAPE_SCANNED;
  const struct snapshot_block block = {shape, info->type, info->words, info->outside, info->name};
  snapshot->refers = shape != SHAPE_CUSTOM;
  snapshot_block(&snapshot->file.writer, at, &block);
}

void wn_snapshot_reference(wn_snapshot *snapshot, size_t field, uintptr_t block) {
  if (snapshot->refers)
    snapshot_edge(&snapshot->file.writer, field, block);
  else
    wn_snapshot_fail(snapshot, EINVAL);
}

void wn_snapshot_type(wn_snapshot *snapshot, uint32_t type, const char *name) {
  snapshot_type(&snapshot->file.writer, type, name);
}

void wn_snapshot_field(wn_snapshot *snapshot, uint32_t type, size_t field, const char *name) {
  snapshot_field(&snapshot->file.writer, type, field, name);
}

void wn_snapshot_fail(wn_snapshot *snapshot, int error) {
  bool known = error > 0 && error < SNAPSHOT_ERROR_MOST;
  if (!snapshot->file.writer.error) snapshot->file.writer.error = known ? error : EIO;
}
/* SPDX-License-Identifier: MIT */
