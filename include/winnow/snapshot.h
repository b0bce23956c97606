/* Heap snapshots: which blocks there are, and what holds them alive.
 *
 *   if (wn_heap_snapshot(domain, "now.heap")) return report(wn_last_error());
 *
 * `winnow heap now.heap` then says how much each root and each type holds. The names of types,
 * fields and roots come from the hooks type_of, type_name and field_name (wn_heap_hooks), from
 * wn_global_new_named, and from wn_root_name. */
#ifndef WINNOW_SNAPSHOT_H
#define WINNOW_SNAPSHOT_H

#include <winnow/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a snapshot of the heap to a file, which is replaced if it exists, and is there as a whole
 * or not at all. It has the sizes and types of blocks and what they lead to, and no contents.
 *
 * The world stops for a minor collection, for the roots, and until the process has a copy of
 * itself; the copy writes the blocks, while the other domains go on. The call returns when that is
 * done. Where the process cannot be copied, the blocks are written while the world is stopped. The
 * copy has no other thread and no open files but this one, no signal but SIGKILL reaches it, it
 * ends with the program, and the program's own wait functions do not see it unless they ask for
 * __WALL.
 *
 * May collect. WN_EIO: the file cannot be written, it is no regular file, or the copy was ended.
 * WN_ENOMEM. WN_ESTATE: the caller is in a hook. */
WN_API wn_status wn_heap_snapshot(wn_domain *domain, const char *path);

/* For the hook walk_roots: in snapshots, the values that it visits next are held by a root of this
 * name; NULL: by one without a name. The name must stay as it is until the next call, or until the
 * hook returns. Does nothing while the heap collects. */
WN_API void wn_root_name(wn_visit *visit, void *visitor, const char *name);

/* A global root (wn_global_new) with a name for snapshots. The name is not copied. NULL: it has
 * none. */
WN_API wn_global *wn_global_new_named(wn_domain *domain, wn_ref ref, const char *name);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
