/* Listens, and compares names of hosts. */
#include "cli/serve/endpoint.h"

#include "base/error.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAITING_MOST = 64 };

union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
};

/* Reads an IP address. Returns its length; 0: it is none. */
static socklen_t endpoint_read_address(union address *address, const char *text, unsigned port) {
  *address = (union address){0};
  if (inet_pton(AF_INET, text, &address->four.sin_addr) == 1) {
    address->four.sin_family = AF_INET;
    address->four.sin_port = htons((uint16_t)port);
    return sizeof address->four;
  }
  if (inet_pton(AF_INET6, text, &address->six.sin6_addr) != 1) return 0;
  address->six.sin6_family = AF_INET6;
  address->six.sin6_port = htons((uint16_t)port);
  return sizeof address->six;
}

static bool is_any(const union address *address) {
  if (address->any.sa_family == AF_INET) return address->four.sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&address->six.sin6_addr);
}

static bool is_loopback(const union address *address) {
  if (address->any.sa_family == AF_INET) return ntohl(address->four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr);
}

/* What to do about the error. */
static const char *advice(int error) {
  switch (error) {
  case EADDRINUSE: return "; give another port, or none";
  case EADDRNOTAVAIL: return "; it is no address of this machine";
  case EACCES: return "; give a port from 1024 on, or none";
  default: return "";
  }
}

static wn_status endpoint_refused(const struct endpoint *endpoint) {
  int error = errno;
  const char *why = strerror(error);
  char port[16] = "";
  if (endpoint->port) snprintf(port, sizeof port, ":%u", endpoint->port);
  return error_set(WN_EIO, "cannot listen on %s%s: %c%s%s", endpoint->host, port,
                   tolower((unsigned char)*why), why + 1, advice(error));
}

/* Names the host as browsers do: ::1 for 0:0::1, in brackets. */
static void name_host(struct endpoint *endpoint, const union address *address) {
  char text[INET6_ADDRSTRLEN] = "";
  bool six = address->any.sa_family == AF_INET6;
  inet_ntop(address->any.sa_family,
            six ? (const void *)&address->six.sin6_addr : (const void *)&address->four.sin_addr, text,
            sizeof text);
  snprintf(endpoint->host, sizeof endpoint->host, six ? "[%s]" : "%s", text);
}

/* Has the port that the system chose. */
static bool find_port(struct endpoint *endpoint) {
  union address found;
  socklen_t length = sizeof found;
  if (getsockname(endpoint->descriptor, &found.any, &length)) return false;
  endpoint->port = ntohs(found.any.sa_family == AF_INET ? found.four.sin_port : found.six.sin6_port);
  return true;
}

/* Removes a socket that nothing listens on. */
static wn_status remove_stale(const struct sockaddr_un *name) {
  struct stat found;
  if (lstat(name->sun_path, &found)) return WN_OK;
  if (!S_ISSOCK(found.st_mode)) return error_set(WN_EIO, "%s is there, and no socket", name->sun_path);
  int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return error_set(WN_EIO, "cannot open a socket: %s", strerror(errno));
  bool stale = connect(probe, (const struct sockaddr *)name, sizeof *name) && errno == ECONNREFUSED;
  close(probe);
  if (!stale) return error_set(WN_EIO, "%s: a process listens there already", name->sun_path);
  return unlink(name->sun_path) ? error_set(WN_EIO, "cannot replace %s: %s", name->sun_path, strerror(errno))
                                : WN_OK;
}

static void note_file(struct endpoint *endpoint, const char *path) {
  struct stat found = {0};
  (void)lstat(path, &found);
  endpoint->device = found.st_dev;
  endpoint->inode = found.st_ino;
  strcpy(endpoint->path, path);
}

/* ---- shared ---- */

wn_status endpoint_open(struct endpoint *endpoint, const char *address, unsigned port) {
  union address wanted;
  socklen_t length = endpoint_read_address(&wanted, address, port);
  *endpoint = (struct endpoint){.descriptor = -1, .port = port};
  if (!length) return error_set(WN_EINVAL, "%s is no IP address", address);
  name_host(endpoint, &wanted);
  endpoint->any = is_any(&wanted);
  endpoint->loopback = is_loopback(&wanted);
  endpoint->descriptor = socket(wanted.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (endpoint->descriptor < 0) return endpoint_refused(endpoint);
  /* A port whose last connections have just ended is free. */
  (void)setsockopt(endpoint->descriptor, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (!bind(endpoint->descriptor, &wanted.any, length) && !listen(endpoint->descriptor, WAITING_MOST) &&
      find_port(endpoint)) {
    if (endpoint->any) strcpy(endpoint->host, wanted.any.sa_family == AF_INET6 ? "[::1]" : "127.0.0.1");
    return WN_OK;
  }
  wn_status error = endpoint_refused(endpoint);
  close(endpoint->descriptor);
  endpoint->descriptor = -1;
  return error;
}

wn_status endpoint_open_path(struct endpoint *endpoint, const char *path) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  *endpoint = (struct endpoint){.descriptor = -1};
  if (!*path || strlen(path) >= sizeof name.sun_path)
    return error_set(WN_EINVAL, "%.100s: the path of a socket has 1 to %zu bytes", path,
                     sizeof name.sun_path - 1);
  strcpy(name.sun_path, path);
  snprintf(endpoint->host, sizeof endpoint->host, "%.*s", (int)sizeof endpoint->host - 1, path);
  wn_status error = remove_stale(&name);
  if (error) return error;
  endpoint->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  mode_t before = umask(S_IRWXG | S_IRWXO | S_IXUSR);
  bool bound =
      endpoint->descriptor >= 0 && !bind(endpoint->descriptor, (struct sockaddr *)&name, sizeof name);
  umask(before);
  if (bound) note_file(endpoint, path);
  if (bound && !listen(endpoint->descriptor, WAITING_MOST)) return endpoint->loopback = true, WN_OK;
  error = endpoint_refused(endpoint);
  endpoint_remove_path(endpoint);
  if (endpoint->descriptor >= 0) close(endpoint->descriptor);
  endpoint->descriptor = -1;
  return error;
}

void endpoint_remove_path(const struct endpoint *endpoint) {
  struct stat found;
  if (*endpoint->path && !lstat(endpoint->path, &found) && found.st_dev == endpoint->device &&
      found.st_ino == endpoint->inode)
    unlink(endpoint->path);
}

bool endpoint_is_host(const struct endpoint *endpoint, const char *host) {
  if (*endpoint->path) return true;
  char name[64], port[16];
  const char *colon = strrchr(host, ':');
  if (colon && strchr(colon, ']')) colon = NULL; /* inside [::1] */
  size_t length = colon ? (size_t)(colon - host) : strlen(host);
  snprintf(port, sizeof port, "%u", endpoint->port);
  if (strcmp(colon ? colon + 1 : "80", port) != 0 || !length || length >= sizeof name) return false;
  memcpy(name, host, length);
  name[length] = 0;
  if (!strcasecmp(name, endpoint->host) || !strcasecmp(name, "localhost")) return true;
  if (!endpoint->any) return false;
  bool brackets = *name == '[' && name[length - 1] == ']';
  if (brackets) name[length - 1] = 0;
  return endpoint_read_address(&(union address){0}, name + brackets, 0) > 0;
}
/* SPDX-License-Identifier: MIT */
