/* Connections without a request that may be answered give way to newcomers, those with one do not
 * unless they are too slow. */
#include "support/test.h"

#include "cli/serve/guests.h"
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS = 3 * GUESTS_MOST };

struct party {
  struct guests guests;
  struct guest *guest[PAIRS];
  int inner[PAIRS], outer[PAIRS];
};

static void arrive(struct party *party, int i) {
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  party->inner[i] = pair[0];
  party->outer[i] = pair[1];
  assert_non_null(party->guest[i] = guests_add(&party->guests, pair[0]));
}

/* Whether the other side finds the end of the connection. */
static bool is_ended(const struct party *party, int i) {
  char byte;
  return read(party->outer[i], &byte, 1) == 0;
}

static void leave(struct party *party, int i) {
  guests_remove(&party->guests, party->guest[i]);
  close(party->inner[i]);
  close(party->outer[i]);
}

static void expect_nobody(const struct party *party) {
  assert_int_equal(party->guests.guests.count + party->guests.members.count, 0);
  assert_null(party->guests.guests.oldest);
  assert_null(party->guests.members.oldest);
}

static void a_newcomer_takes_the_place_of_the_oldest_guest(void **state) {
  (void)state;
  struct party party;
  guests_create(&party.guests);
  for (int i = 0; i < GUESTS_MOST; i++) arrive(&party, i);
  assert_true(guests_admit(&party.guests, party.guest[0]));
  for (int i = GUESTS_MOST; i < PAIRS; i++) {
    arrive(&party, i);
    assert_int_equal(party.guests.guests.count, GUESTS_MOST);
  }
  for (int i = 0; i < PAIRS; i++) assert_int_equal(is_ended(&party, i), i && i < PAIRS - GUESTS_MOST);
  assert_true(guests_admit(&party.guests, party.guest[0]));
  assert_false(guests_admit(&party.guests, party.guest[1]));
  for (int i = 0; i < PAIRS; i++) leave(&party, i);
  expect_nobody(&party);
  guests_destroy(&party.guests);
}

static void late_guests_end_when_somebody_comes(void **state) {
  (void)state;
  struct party party;
  guests_create(&party.guests);
  for (int i = 0; i < 4; i++) arrive(&party, i);
  assert_true(guests_admit(&party.guests, party.guest[1]));
  for (int i = 0; i < 3; i++) party.guest[i]->since_ns -= (GUEST_SECONDS + 1) * UINT64_C(1000000000);
  arrive(&party, 4);
  for (int i = 0; i < 5; i++) assert_int_equal(is_ended(&party, i), i == 0 || i == 2);
  for (int i = 0; i < 5; i++) leave(&party, i);
  guests_destroy(&party.guests);
}

static void so_many_members_and_no_more(void **state) {
  (void)state;
  struct party party;
  guests_create(&party.guests);
  for (int i = 0; i <= MEMBERS_MOST; i++) {
    arrive(&party, i);
    assert_int_equal(guests_admit(&party.guests, party.guest[i]), i < MEMBERS_MOST);
  }
  leave(&party, 0);
  assert_true(guests_admit(&party.guests, party.guest[MEMBERS_MOST]));
  for (int i = 1; i <= MEMBERS_MOST; i++) leave(&party, i);
  expect_nobody(&party);
  guests_destroy(&party.guests);
}

/* However many bytes they send or read. */
static void members_that_are_late_give_way(void **state) {
  (void)state;
  struct party party;
  guests_create(&party.guests);
  for (int i = 0; i < MEMBERS_MOST; i++) {
    arrive(&party, i);
    assert_true(guests_admit(&party.guests, party.guest[i]));
    guests_limit(&party.guests, party.guest[i], i % 2 ? 3600 : 0);
  }
  arrive(&party, MEMBERS_MOST);
  assert_false(guests_admit(&party.guests, party.guest[MEMBERS_MOST]));
  party.guest[3]->until_ns = 1;
  party.guest[5]->until_ns = 1;
  assert_true(guests_admit(&party.guests, party.guest[MEMBERS_MOST]));
  for (int i = 0; i <= MEMBERS_MOST; i++) assert_int_equal(is_ended(&party, i), i == 3 || i == 5);
  assert_false(guests_admit(&party.guests, party.guest[3]));
  party.guest[7]->until_ns = 1;
  guests_end_late(&party.guests); /* and none needs the place */
  assert_true(is_ended(&party, 7));
  for (int i = 0; i <= MEMBERS_MOST; i++) leave(&party, i);
  expect_nobody(&party);
  guests_destroy(&party.guests);
}

static void places_are_for_one_request(void **state) {
  (void)state;
  struct party party;
  guests_create(&party.guests);
  for (int i = 0; i < MEMBERS_MOST; i++) {
    arrive(&party, i);
    assert_true(guests_admit(&party.guests, party.guest[i]));
  }
  guests_finish(&party.guests, party.guest[0]);
  arrive(&party, MEMBERS_MOST);
  assert_true(guests_admit(&party.guests, party.guest[MEMBERS_MOST]));
  assert_false(guests_admit(&party.guests, party.guest[0])); /* its next one */
  guests_finish(&party.guests, party.guest[1]);
  assert_true(guests_admit(&party.guests, party.guest[0]));
  for (int i = 0; i <= MEMBERS_MOST; i++) assert_false(is_ended(&party, i));
  for (int i = 0; i <= MEMBERS_MOST; i++) leave(&party, i);
  expect_nobody(&party);
  guests_destroy(&party.guests);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_newcomer_takes_the_place_of_the_oldest_guest),
      cmocka_unit_test(late_guests_end_when_somebody_comes),
      cmocka_unit_test(so_many_members_and_no_more),
      cmocka_unit_test(members_that_are_late_give_way),
      cmocka_unit_test(places_are_for_one_request),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
