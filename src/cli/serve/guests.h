/* The connections of the server, by what is known of them: a guest has not shown the token yet, a
 * member has.
 *
 * Anybody on the machine can connect, and can be slow. So guests have a number of their own, and a
 * time: a newcomer ends all guests that are older than GUEST_SECONDS, and the oldest if there are
 * too many nevertheless. Hence a newcomer always finds room. It becomes a member by its first
 * request, which a browser sends at once; a stranger would have to connect GUESTS_MOST times in
 * between. Only the server ends members. */
#ifndef CLI_SERVE_GUESTS_H
#define CLI_SERVE_GUESTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The others of CONNECTIONS_MOST were ended, and their threads have not found out yet. */
enum { GUESTS_MOST = 32, MEMBERS_MOST = 32, CONNECTIONS_MOST = 128, GUEST_SECONDS = 10 };

/* A connection. */
struct guest {
  struct guest *next; /* a newer guest; of guests alone */
  enum { GUEST, MEMBER, ENDED } state;
  int descriptor;
  uint64_t since_ns;
};

struct guests {
  pthread_mutex_t lock;
  struct guest *oldest;
  int count, members;
};

void guests_create(struct guests *guests);
void guests_destroy(struct guests *guests);

/* Adds a connection, by its socket. NULL: not enough memory. */
struct guest *guests_add(struct guests *guests, int descriptor);

/* Removes and frees a connection, before its socket is closed. */
void guests_remove(struct guests *guests, struct guest *guest);

/* Makes a guest a member; a member stays one. False: it was ended, or there are too many members. */
bool guests_admit(struct guests *guests, struct guest *guest);

#endif
/* SPDX-License-Identifier: MIT */
