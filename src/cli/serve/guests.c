/* Counts the server's connections. Guests and members are a list each. */
#include "cli/serve/guests.h"

#include "base/os.h"
#include <stdlib.h>
#include <sys/socket.h>

#define SECOND_NS UINT64_C(1000000000)

static void guests_take_out(struct guest_list *list, struct guest *guest) {
  struct guest **at = &list->oldest;
  while (*at != guest) at = &(*at)->next;
  *at = guest->next;
  list->count--;
}

static void guests_append(struct guest_list *list, struct guest *guest) {
  struct guest **at = &list->oldest;
  while (*at) at = &(*at)->next;
  *at = guest;
  guest->next = NULL;
  list->count++;
}

/* The thread of the connection finds the end of its socket, and removes the guest. */
static void guests_end(struct guest_list *list, struct guest *guest) {
  guests_take_out(list, guest);
  guest->state = ENDED;
  shutdown(guest->descriptor, SHUT_RDWR);
}

static void end_late(struct guests *guests) {
  uint64_t now = os_monotonic_ns();
  for (struct guest *guest = guests->members.oldest, *next; guest; guest = next) {
    next = guest->next;
    if (guest->until_ns < now) guests_end(&guests->members, guest);
  }
}

static void become_guest(struct guests *guests, struct guest *guest) {
  struct guest_list *list = &guests->guests;
  guest->state = GUEST;
  guest->since_ns = os_monotonic_ns();
  while (list->oldest && guest->since_ns - list->oldest->since_ns > GUEST_SECONDS * SECOND_NS)
    guests_end(list, list->oldest);
  if (list->count == GUESTS_MOST) guests_end(list, list->oldest);
  guests_append(list, guest);
}

/* ---- shared ---- */

void guests_create(struct guests *guests) {
  *guests = (struct guests){.guests = {.oldest = NULL}};
  pthread_mutex_init(&guests->lock, NULL);
}

void guests_destroy(struct guests *guests) { pthread_mutex_destroy(&guests->lock); }

struct guest *guests_add(struct guests *guests, int descriptor) {
  struct guest *guest = malloc(sizeof *guest);
  if (!guest) return NULL;
  *guest = (struct guest){.descriptor = descriptor};
  pthread_mutex_lock(&guests->lock);
  become_guest(guests, guest);
  pthread_mutex_unlock(&guests->lock);
  return guest;
}

void guests_remove(struct guests *guests, struct guest *guest) {
  if (!guest) return;
  pthread_mutex_lock(&guests->lock);
  if (guest->state != ENDED)
    guests_take_out(guest->state == GUEST ? &guests->guests : &guests->members, guest);
  pthread_mutex_unlock(&guests->lock);
  free(guest);
}

bool guests_admit(struct guests *guests, struct guest *guest) {
  if (!guest) return false;
  pthread_mutex_lock(&guests->lock);
  if (guests->members.count == MEMBERS_MOST) end_late(guests);
  if (guest->state == GUEST && guests->members.count < MEMBERS_MOST) {
    guests_take_out(&guests->guests, guest);
    guests_append(&guests->members, guest);
    guest->state = MEMBER;
    guest->until_ns = UINT64_MAX;
  }
  bool admitted = guest->state == MEMBER;
  pthread_mutex_unlock(&guests->lock);
  return admitted;
}

void guests_limit(struct guests *guests, struct guest *guest, unsigned seconds) {
  if (!guest) return;
  pthread_mutex_lock(&guests->lock);
  guest->until_ns = seconds ? os_monotonic_ns() + seconds * SECOND_NS : UINT64_MAX;
  pthread_mutex_unlock(&guests->lock);
}

void guests_finish(struct guests *guests, struct guest *guest) {
  if (!guest) return;
  pthread_mutex_lock(&guests->lock);
  if (guest->state == MEMBER) {
    guests_take_out(&guests->members, guest);
    become_guest(guests, guest);
  }
  pthread_mutex_unlock(&guests->lock);
}

void guests_end_late(struct guests *guests) {
  pthread_mutex_lock(&guests->lock);
  end_late(guests);
  pthread_mutex_unlock(&guests->lock);
}
/* SPDX-License-Identifier: MIT */
