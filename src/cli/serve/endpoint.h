/* Where a server listens: an address and port with the names by which browsers may call it, or a
 * socket in the file system. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>
#include <winnow/status.h>

struct endpoint {
  int descriptor; /* a socket that listens */
  char host[64];  /* as in an address of the web: 127.0.0.1, [::1] */
  unsigned port;
  bool any;                                             /* it listens on all addresses of the machine */
  bool loopback;                                        /* nobody else can reach it */
  char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of a socket in the file system; or empty */
  dev_t device;                                         /* and of which file that is */
  ino_t inode;
};

/* Listens on an IP address; port 0: any free one. WN_EIO: the system refuses. The caller closes the
 * descriptor, or passes it on. */
wn_status endpoint_open(struct endpoint *endpoint, const char *address, unsigned port);

/* Listens on a socket in the file system, of mode 0600, so that no other user reaches it. A socket
 * that no process listens on any more is replaced; nothing else is. WN_EIO. */
wn_status endpoint_open_path(struct endpoint *endpoint, const char *path);

/* Removes the file of such a socket, unless it is another one now. */
void endpoint_remove_path(const struct endpoint *endpoint);

/* Whether a request's header Host names the endpoint: its address or localhost, with the port. A
 * page of another site cannot have such a Host, even if its name leads to this machine (DNS
 * rebinding). An endpoint of all addresses takes any IP address, but no name; a
 * socket in the file system, which no page can reach, takes anything. */
bool endpoint_is_host(const struct endpoint *endpoint, const char *host);
/* SPDX-License-Identifier: MIT */
