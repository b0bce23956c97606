/* What holds blocks alive: snapshots of the heap, and the path to one block.
 *
 *   if (wn_heap_snapshot(domain, "now.heap")) return report(wn_last_error());
 *
 * `winnow heap now.heap` then says how much each root and each type holds. The names of types,
 * fields and roots come from the hooks type_of, type_name and field_name (wn_heap_hooks), from
 * wn_global_new_named, and from wn_root_name. Handles have the name of the function in whose scope
 * they are, if the program is compiled with WN_DEBUG. A scope that longjmp has left without its end
 * is open until the scope around it ends. */
#ifndef WINNOW_SNAPSHOT_H
#define WINNOW_SNAPSHOT_H

#include <winnow/heap.h>
#include <winnow/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a snapshot of the heap to a file, which is replaced if it exists, and is there as a whole
 * or not at all; a program that is killed meanwhile leaves a part of it, PATH.NUMBER-NUMBER.part. It
 * has the sizes and types of blocks and what they lead to, and no contents.
 *
 * The world stops for a minor collection, for the roots, and until the process has a copy of
 * itself; the copy writes the blocks, while the other domains go on. The call returns when that is
 * done. Where the process cannot be copied, the blocks are written while the world is stopped. The
 * copy has no other thread and no open files but this one, no signal but SIGKILL reaches it, it
 * ends with the program, and the program's own wait functions do not see it unless they ask for
 * __WALL.
 *
 * There are no options: the heap's hooks give the names, and all files have the same contents.
 * A snapshot is a file of its own and no part of a trace. A heap has snapshots whether a trace
 * records it or not, the copy must not write where the program goes on writing, and a trace of
 * bounded size would drop older events for it.
 *
 * May collect. WN_EIO: the file cannot be written, it is no regular file, or the copy was ended.
 * WN_ENOMEM. WN_ESTATE: the caller is in a hook. */
WN_API wn_status wn_heap_snapshot(wn_domain *domain, const char *path);

/* A step of a path: a root first, and then blocks. Blocks of one type that follow each other and have
 * no name, as in a list, are one step. The texts are valid until the visit of the step returns. */
typedef struct wn_path_step {
  const char *type;  /* of the block; of the root "global", "handle in" (name: a function), ... */
  const char *name;  /* what the hook `describe` says of the block, or the root's name; NULL: nothing */
  const char *field; /* that leads here from the step before, by the hook field_name; NULL: no name */
  size_t index;      /* that field's number */
  size_t blocks;     /* so many of them */
} wn_path_step;
typedef void wn_path_visit(void *context, const wn_path_step *step);

/* Visits the steps of a shortest path from a root to a block: to that of a handle, which does not
 * count as a root itself, or to the tracked block of a profile that has this metadata. If no root
 * leads there, or no tracked block has the metadata, nothing is visited.
 *
 * The world stops for a minor collection, for the search, and for the visits, which may call no
 * function of the heap. Takes about 40 bytes for each block that it meets, none of which is farther
 * from the roots than the goal.
 *
 * May collect. WN_EINVAL: the handle has no block, or an argument is NULL. WN_ENOMEM. WN_ESTATE:
 * the caller is in a hook. */
WN_API wn_status wn_block_path(wn_domain *domain, wn_ref ref, wn_path_visit *visit, void *context);
WN_API wn_status wn_sample_path(wn_domain *domain, const wn_profile *profile, const void *metadata,
                                wn_path_visit *visit, void *context);

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
