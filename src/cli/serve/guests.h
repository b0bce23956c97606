/* The connections of the server, by what is known of them: a member has a request under way that
 * may be answered, a guest has not shown yet that it may ask, or waits between two requests.
 *
 * Any process of the machine can connect, and can be slow. So guests have a number of their own,
 * and a time: a newcomer ends all guests that are older than GUEST_SECONDS, and the oldest if there
 * are too many nevertheless. Hence a newcomer always finds room. It becomes a member by its first
 * request, which a browser sends at once; a stranger would have to connect GUESTS_MOST times in
 * between.
 *
 * LATE. A member may have a limit, by which it must have sent its request or read its answer. One
 * that exceeds it is ended when another connection needs a place, or by guests_end_late, however
 * the bytes trickle. A member without a limit is never ended here. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The others of CONNECTIONS_MOST were ended, and their threads have not found out yet. */
enum { GUESTS_MOST = 32, MEMBERS_MOST = 32, CONNECTIONS_MOST = 128, GUEST_SECONDS = 10 };

/* A connection. */
struct guest {
  struct guest *next; /* in the list of its state */
  enum { GUEST, MEMBER, ENDED } state;
  int descriptor;
  uint64_t since_ns; /* of a guest: when it became one */
  uint64_t until_ns; /* of a member: LATE; UINT64_MAX: it has no limit */
};

struct guest_list {
  struct guest *oldest; /* by the time at which they entered the list */
  int count;
};

struct guests {
  pthread_mutex_t lock;
  struct guest_list guests, members;
};

void guests_create(struct guests *guests);
void guests_destroy(struct guests *guests);

/* Adds a connection, by its socket. NULL: not enough memory. */
struct guest *guests_add(struct guests *guests, int descriptor);

/* Removes and frees a connection, before its socket is closed. */
void guests_remove(struct guests *guests, struct guest *guest);

/* Makes a guest a member without a limit; a member stays one. False: it was ended, or there are too
 * many members. */
bool guests_admit(struct guests *guests, struct guest *guest);

/* Gives a member so many seconds from now on; 0: no limit. */
void guests_limit(struct guests *guests, struct guest *guest, unsigned seconds);

/* Makes a member a guest again: its request is done. */
void guests_finish(struct guests *guests, struct guest *guest);

/* LATE */
void guests_end_late(struct guests *guests);
/* SPDX-License-Identifier: MIT */
