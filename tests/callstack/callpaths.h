/* Functions with all kinds of frames, each of which calls `leaf` in the end. */
#ifndef TESTS_CALLPATHS_H
#define TESTS_CALLPATHS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef int leaf_function(void *context);

int path_chain(leaf_function *leaf, void *context);
int path_recursion(int depth, leaf_function *leaf, void *context);
int path_alloca(int bytes, leaf_function *leaf, void *context);
int path_big_frame(leaf_function *leaf, void *context);
int path_realigned(int bytes, leaf_function *leaf, void *context);
int path_many_registers(int number, leaf_function *leaf, void *context);
int path_qsort(leaf_function *leaf, void *context);
int path_thread(leaf_function *leaf, void *context);
int path_signal(leaf_function *leaf, void *context);
int path_alternate_stack(leaf_function *leaf, void *context);
int path_fault(leaf_function *leaf, void *context);
int path_catch(leaf_function *leaf, void *context);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
