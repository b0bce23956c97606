/* Makes inputs seekable. A trace is read at many offsets, so standard input or a pipe is first
 * copied to an anonymous file in memory. (Reports keep the rows of a trace in memory anyway.) */
#include "cli/input.h"

#include "base/error.h"
#include "base/os.h"
#include "sources/files/open.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <winnow/status.h>

static bool input_copy(int from, int to) {
  char bytes[1 << 16];
  for (;;) {
    ssize_t count = read(from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return !count;
    if (!os_write_all(to, bytes, (size_t)count)) return false;
  }
}

static bool is_pipe(const char *name) {
  struct stat found;
  return !stat(name, &found) && S_ISFIFO(found.st_mode);
}

/* ---- shared ---- */

bool input_open(struct input *input, const char *name) {
  *input = (struct input){.name = name, .descriptor = -1};
  bool standard = !strcmp(name, "-");
  if (!standard && !is_pipe(name)) return true;
  if (standard) input->name = "standard input";
  input->descriptor = memfd_create("winnow-input", MFD_CLOEXEC);
  int from = standard ? 0 : open(name, O_RDONLY | O_CLOEXEC);
  bool copied = input->descriptor >= 0 && from >= 0 && input_copy(from, input->descriptor);
  if (!copied) error_set(WN_EIO, "cannot read %s: %s", input->name, strerror(errno));
  if (from > 0) close(from);
  if (!copied) return input_close(input), false;
  snprintf(input->path, sizeof input->path, "/proc/self/fd/%d", input->descriptor);
  return true;
}

void input_close(struct input *input) {
  if (input->descriptor >= 0) close(input->descriptor);
  input->descriptor = -1;
}

/* Winnow's writers hold a lock of flock. Memtrace's hold one of lockf, which is a lock of fcntl. */
static bool is_locked(int fd, const char *path) {
  if (flock(fd, LOCK_SH | LOCK_NB)) return errno == EWOULDBLOCK;
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return source_is_memtrace(path) && !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool input_is_growing(const char *path) {
  struct stat found;
  if (stat(path, &found) || !S_ISREG(found.st_mode) || !found.st_size) return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  bool growing = fd >= 0 && is_locked(fd, path);
  if (fd >= 0) close(fd);
  return growing;
}

const char *input_error(const struct input *input, char buffer[512]) {
  const char *text = wn_last_error();
  size_t length = strlen(input->path);
  const char *at = length ? strstr(text, input->path) : NULL;
  if (!at) return text;
  snprintf(buffer, 512, "%.*s%s%s", (int)(at - text), text, input->name, at + length);
  return buffer;
}

bool input_is_same_file(const char *one, const char *other) {
  struct stat left, right;
  return !stat(one, &left) && !stat(other, &right) && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}
/* SPDX-License-Identifier: MIT */
