/* The server that `make demo` records: a shop that answers requests. It has a catalogue that it reads once, a
 * cache of pages with a limit, sessions that end, and a leak: a search that finds nothing is remembered,
 * so that it can be counted, and never forgotten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 40000, REQUESTS = 1600000, SESSIONS = 3000, PAGES = 2000, NAME = 160, PAGE = 8000 };

struct search {
  struct search *next;
  char text[120];
};

static char *product[PRODUCTS], *session[SESSIONS], *page[PAGES];
static struct search *unanswered;
static unsigned long served;

static void *xmalloc(size_t bytes) {
  void *block = malloc(bytes);
  if (!block) exit(1);
  return block;
}

static unsigned next_random(void) {
  static unsigned long long state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33);
}

static void load_catalogue(void) {
  for (int i = 0; i < PRODUCTS; i++) {
    product[i] = xmalloc(NAME);
    snprintf(product[i], NAME, "product %d, with a description of it", i);
  }
}

/* A page stays in the cache until another one takes its place. */
static const char *render_page(unsigned number) {
  char **place = &page[number % PAGES];
  if (*place && next_random() % 100) return *place;
  free(*place);
  *place = xmalloc(PAGE);
  memset(*place, ' ', PAGE - 1);
  (*place)[PAGE - 1] = 0;
  return *place;
}

static void open_session(unsigned user) {
  char **place = &session[user % SESSIONS];
  free(*place);
  *place = xmalloc(1000 + user % 1000);
  memset(*place, 0, 1000);
}

/* The leak. */
static void remember_search(const char *text) {
  struct search *search = xmalloc(sizeof *search);
  snprintf(search->text, sizeof search->text, "%s", text);
  search->next = unanswered;
  unanswered = search;
}

static void find_product(const char *text) {
  char *words = xmalloc(strlen(text) + 200);
  strcpy(words, text);
  unsigned found = next_random();
  if (found % 8 == 1) remember_search(words);
  served += strlen(product[found % PRODUCTS]);
  free(words);
}

static void answer(unsigned request) {
  char text[64];
  char *body = xmalloc(3000 + request % 2000);
  memset(body, 0, 3000);
  if (request % 20 == 0) open_session(next_random());
  snprintf(text, sizeof text, "search number %u", request);
  find_product(text);
  served += strlen(render_page(next_random()));
  free(body);
}

int main(void) {
  load_catalogue();
  for (unsigned i = 0; i < REQUESTS; i++) answer(i);
  printf("The shop answered %d requests.\n", REQUESTS);
  return served == 0;
}
/* SPDX-License-Identifier: MIT */
