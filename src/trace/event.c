/* What a trace tells, in words. */
#include "trace/event.h"

const char *trace_cause_name(unsigned cause) {
  switch (cause) {
  case TRACE_CAUSE_DISK: return "the disk was full";
  case TRACE_CAUSE_QUOTA: return "the disk quota was used up";
  case TRACE_CAUSE_FILE_SIZE: return "the limit on the size of files was reached";
  case TRACE_CAUSE_MEMORY: return "the address space was exhausted";
  case TRACE_CAUSE_FILE: return "the file could not be written any more";
  case TRACE_CAUSE_BOUND: return "the trace had reached its bound (--max-trace)";
  default: return "the file could not grow";
  }
}

const char *trace_cause_word(unsigned cause) {
  switch (cause) {
  case TRACE_CAUSE_DISK: return "disk";
  case TRACE_CAUSE_QUOTA: return "quota";
  case TRACE_CAUSE_FILE_SIZE: return "file size";
  case TRACE_CAUSE_MEMORY: return "address space";
  case TRACE_CAUSE_FILE: return "file";
  case TRACE_CAUSE_BOUND: return "bound";
  default: return "";
  }
}
/* SPDX-License-Identifier: MIT */
