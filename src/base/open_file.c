/* Opens by one call with flags that are set once. */
#include "base/open_file.h"

#include <fcntl.h>

/* Set before there are threads; constant afterwards. */
static int link_flag;

int open_file(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | link_flag);
}

void open_file_refuse_links(void) { link_flag = O_NOFOLLOW; }
/* SPDX-License-Identifier: MIT */
