/* Counts the server's connections. Guests are a list, the oldest first. */
#include "cli/serve/guests.h"

#include "base/os.h"
#include <stdlib.h>
#include <sys/socket.h>

static void take_out(struct guests *guests, struct guest *guest) {
  struct guest **at = &guests->oldest;
  while (*at != guest) at = &(*at)->next;
  *at = guest->next;
  guests->count--;
}

/* The thread of the connection finds the end of its socket, and removes the guest. */
static void end_oldest(struct guests *guests) {
  struct guest *guest = guests->oldest;
  take_out(guests, guest);
  guest->state = ENDED;
  shutdown(guest->descriptor, SHUT_RDWR);
}

static void append(struct guests *guests, struct guest *guest) {
  struct guest **at = &guests->oldest;
  while (*at) at = &(*at)->next;
  *at = guest;
  guests->count++;
}

/* ---- shared ---- */

void guests_create(struct guests *guests) {
  *guests = (struct guests){.oldest = NULL};
  pthread_mutex_init(&guests->lock, NULL);
}

void guests_destroy(struct guests *guests) { pthread_mutex_destroy(&guests->lock); }

struct guest *guests_add(struct guests *guests, int descriptor) {
  struct guest *guest = malloc(sizeof *guest);
  if (!guest) return NULL;
  *guest = (struct guest){.state = GUEST, .descriptor = descriptor, .since_ns = os_monotonic_ns()};
  pthread_mutex_lock(&guests->lock);
  while (guests->oldest && guest->since_ns - guests->oldest->since_ns > GUEST_SECONDS * UINT64_C(1000000000))
    end_oldest(guests);
  if (guests->count == GUESTS_MOST) end_oldest(guests);
  append(guests, guest);
  pthread_mutex_unlock(&guests->lock);
  return guest;
}

void guests_remove(struct guests *guests, struct guest *guest) {
  if (!guest) return;
  pthread_mutex_lock(&guests->lock);
  if (guest->state == GUEST) take_out(guests, guest);
  guests->members -= guest->state == MEMBER;
  pthread_mutex_unlock(&guests->lock);
  free(guest);
}

bool guests_admit(struct guests *guests, struct guest *guest) {
  if (!guest) return false;
  pthread_mutex_lock(&guests->lock);
  if (guest->state == GUEST && guests->members < MEMBERS_MOST) {
    take_out(guests, guest);
    guest->state = MEMBER;
    guests->members++;
  }
  bool admitted = guest->state == MEMBER;
  pthread_mutex_unlock(&guests->lock);
  return admitted;
}
/* SPDX-License-Identifier: MIT */
