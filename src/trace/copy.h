/* Copies a trace, also one that is being written: what stands in it at that moment. */
#ifndef TRACE_COPY_H
#define TRACE_COPY_H

#include <winnow/status.h>

/* Writes the records of the trace at `path` to the file `descriptor`, which is empty. Each chunk
 * is copied as far as its commit word covers it, so the copy is whole whenever the process goes on
 * writing. It has an END only if the trace has one (trace_finish_with adds another). WN_EFORMAT:
 * no chunk is whole. WN_EIO. Sets wn_last_error. */
wn_status trace_copy(const char *path, int descriptor);

#endif
/* SPDX-License-Identifier: MIT */
