/* The operating system, as far as every part needs it. Nothing here allocates or takes a lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of the monotonic clock, and of the wall clock since 1970. */
uint64_t os_monotonic_ns(void);
uint64_t os_wall_ns(void);

/* Nanoseconds of processor time that a process has used, by its file /proc/PID/stat, in steps of some
 * milliseconds; 0: it cannot be read. */
uint64_t os_processor_ns_of(const char *stat);

/* Nanoseconds of processor time that this process, or the calling thread, has used. */
uint64_t os_process_cpu_ns(void);
uint64_t os_thread_cpu_ns(void);

size_t os_page_bytes(void);
unsigned os_processors(void);

/* Writes everything, through interrupted and partial writes. False on error; errno tells. */
bool os_write_all(int fd, const void *bytes, size_t count);

/* Reads up to `count` bytes at an offset, through interrupted and partial reads. Returns the number of
 * bytes that were there; fewer also on an error. */
size_t os_read_at(int fd, void *buffer, size_t count, uint64_t offset);

/* Writes everything at an offset, likewise. False on error; errno tells. */
bool os_write_at(int fd, const void *bytes, size_t count, uint64_t offset);

/* Reads at most capacity - 1 bytes of a small file, such as one in /proc, and ends them with a NUL
 * byte. Returns the number of bytes read, or -1. */
long os_read_file(const char *path, char *buffer, size_t capacity);

/* Fills a buffer from the kernel's random source (clock and addresses if there is none). */
void os_random_bytes(void *buffer, size_t count);

/* The largest resident size that this process has had since it became its program, by the kernel's
 * count; 0: the kernel does not tell. (That of getrusage counts what the process was before an
 * exec, and children.) */
uint64_t os_peak_bytes(void);

/* Decimal numbers with a blank between any two, such as in /proc; 0 where there are fewer. */
void os_numbers(const char *text, uint64_t *numbers, size_t count);
/* SPDX-License-Identifier: MIT */
