/* The history of a trace as a file (docs/trace-format.md, Histories): TRACE.history beside the
 * trace, and
 * TRACE.history.new while another one is written. What moves or removes a trace does the same to
 * these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the trace's name in the name of its history, or of one that is being written; 0: it
 * is another name. */
size_t history_name_of(const char *name);

/* Whether a file is the history of a trace that is beside it. */
bool history_is_one(const char *path);

/* Disk space in bytes of a trace with its history, and of one that is being written. 0: there is
 * none, or it cannot be looked at. */
uint64_t history_disk_bytes(const char *trace);

bool history_exists(const char *trace);

/* Removes the history of a trace that was removed. history_remove_own removes only files that are
 * this user's traces, or empty, and that no process writes. */
void history_remove(const char *trace);
void history_remove_own(const char *trace);
/* SPDX-License-Identifier: MIT */
