/* winnow ship: sends the windows of recordings to ClickHouse until a signal comes, or once.
 *
 * DUE. A window of a process that goes on is shipped MARGIN_SECONDS after its end, when no thread
 * writes an event of it any more; of a process that has ended all windows are. A process that
 * allocates nothing has no windows after the last event until the next one.
 *
 * A pass ships what is due of all recordings, each loaded and dropped again, and comes after each
 * end of a window, on each host at another time (up to SPREAD_SECONDS later). A recording of which
 * nothing is due is not read.
 *
 * LOOKS. Without arguments the recordings are listed again every LOOK_SECONDS between passes, since
 * a process that has ended is not found any more: what has ended is shipped at once.
 *
 * ALONE. One command at a time ships a recording, since a batch that two insert is there twice: it
 * has a lock of the trace until all of it is shipped. The lock is one of the file's description
 * (F_OFD_SETLK) on a byte that no trace has, and has nothing to do with the one by which a process
 * writes the trace. It is a shared lock, for which reading is enough: a command that has it asks
 * whether another has one, too. What it knew of the run before it had the lock does not count. Where
 * there are no such locks, nothing prevents two.
 *
 * FAILURES. What could not be shipped is what is due in the next pass, so the traces are the only
 * queue. */
#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/open_file.h"
#include "base/os.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/fleet/connection.h"
#include "cli/fleet/shipper.h"
#include "cli/input.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/scrape/targets.h"
#include "cli/serve/ending.h"
#include "cli/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SHIPPING (((off_t)1 << 61) + 2) /* ALONE: beside those of trace/history.c */

enum { LOCK_TRIES = 5, LOCK_WAIT_NS = 20000000 };
enum { SHIPPED_MOST = 4096, MARGIN_SECONDS = 10, SPREAD_SECONDS = 60, LOOK_SECONDS = 10 };
#define SECOND_NS UINT64_C(1000000000)

/* ---- the servers ---- */

/* The servers to which recordings go.
 *
 * CHOICE. Of several a host has always the same one (rendezvous hashing: a server that comes or goes
 * moves only its own hosts), in whichever order they are listed: a batch that is sent again finds what
 * was sent before. The hosts of a server that is down wait for it.
 *
 * BACK-PRESSURE. After a failure a server is left alone for a second, then for twice as long each
 * time that it takes nothing in between, up to REST_MOST seconds. A random part is left out of each
 * wait, so that many machines do not come at once. */

enum { REST_MOST = 900 };

struct server {
  struct http_options options;
  struct shipper shipper;
  bool fails;             /* since it was last said that it does */
  unsigned rest;          /* seconds of the wait after the last failure */
  uint64_t rest_until_ns; /* of the monotonic clock */
  bool is_wrong;          /* the last failure was HTTP_WRONG */
};

#define SECOND_NS UINT64_C(1000000000)

/* Half of a wait to all of it. */
static uint64_t random_ns(unsigned seconds) {
  uint32_t bits;
  os_random_bytes(&bits, sizeof bits);
  return seconds * SECOND_NS / 2 + seconds * (SECOND_NS / 2) / UINT32_MAX * bits;
}

static void server_note_failure(struct server *server, bool is_wrong) {
  bool is_told = server->fails && (server->is_wrong || !is_wrong);
  server->rest = !server->rest ? 1 : server->rest < REST_MOST / 2 ? 2 * server->rest : REST_MOST;
  server->rest_until_ns = os_monotonic_ns() + random_ns(server->rest);
  server->fails = true;
  server->is_wrong = is_wrong;
  if (!is_told) fail_job("cannot ship to %s: %s", server->options.url, server->shipper.complaint);
}

static void note_success(struct server *server) {
  if (server->fails) fprintf(stderr, "winnow: ships to %s again\n", server->options.url);
  server->fails = server->is_wrong = false;
}

/* Creates the client of a server, with these options, which are copied. As http_create. */
static wn_status server_open(struct server *server, const struct http_options *options) {
  *server = (struct server){.options = *options};
  return http_create(&server->options, &server->shipper.http);
}

static void server_close(struct server *server) {
  http_destroy(server->shipper.http);
  shipper_destroy(&server->shipper);
}

/* CHOICE */
static struct server *server_of(struct server *servers, size_t count, const char *host) {
  struct server *best = servers;
  uint64_t most = 0, hash = hash_bytes(host, strlen(host));
  for (size_t i = 0; i < count; i++) {
    const char *url = servers[i].options.url;
    uint64_t score = hash_combine(hash, hash_bytes(url, strlen(url)));
    if (score > most) most = score, best = &servers[i];
  }
  return best;
}

static bool server_rests(const struct server *server) {
  return server->fails && os_monotonic_ns() < server->rest_until_ns;
}

/* BACK-PRESSURE. Notes the outcome of requests, by which something was shipped or not, and says on
 * standard error that the server fails, or that it works again. */
static void server_note(struct server *server, enum http_outcome outcome, bool is_shipped) {
  if (is_shipped || outcome == HTTP_DONE) server->rest = 0;
  if (outcome == HTTP_DONE)
    note_success(server);
  else if (outcome != HTTP_ENDING)
    server_note_failure(server, outcome == HTTP_WRONG);
}

/* ---- the shipments ---- */

/* What is known of a recording. */
struct shipment {
  struct joined_identity identity;
  struct shipper_run run;
  bool seen;      /* in this pass */
  bool all;       /* its process has ended, and all windows are shipped */
  bool has_some;  /* windows of it were shipped by this process */
  bool is_failed; /* it cannot be read, or has no windows, which was said */
  int lock;       /* ALONE: a descriptor of the trace, or -1 */
  bool is_told;   /* that another command has the lock */
};

struct ship {
  const struct report_options *options;
  struct targets targets;
  struct server servers[SERVERS_MOST];
  size_t server_count;
  struct shipment *shipments;
  size_t count, capacity;
  sigset_t ending;
  uint64_t began_wall_ns, began_ns; /* when this process did, by both clocks */
  uint64_t read_ns; /* when the trace that is loaded began to be read, by the monotonic clock */
  struct connection connection;
  uint64_t spread; /* seconds of this host */
  bool waits;      /* in this pass something that is due was not shipped */
  bool is_locked;  /* and something is shipped by another command */
  bool is_failed;  /* something cannot be shipped at all */
  bool says_left_out;
};

/* ---- what is due ---- */

static struct shipment *ship_find(struct ship *ship, const struct joined_identity *identity) {
  for (size_t i = 0; i < ship->count; i++)
    if (!memcmp(&ship->shipments[i].identity, identity, sizeof *identity)) return &ship->shipments[i];
  return NULL;
}

/* NULL without memory. */
static struct shipment *find_or_add(struct ship *ship, const struct joined_identity *identity) {
  struct shipment *found = ship_find(ship, identity), added = {.identity = *identity, .lock = -1};
  if (found || !ARRAY_ADD(ship->shipments, ship->count, ship->capacity, added)) return found;
  return &ship->shipments[ship->count - 1];
}

static void unlock(struct shipment *shipment) {
  if (shipment->lock >= 0) close(shipment->lock);
  shipment->lock = -1;
}

static void ship_destroy(struct shipment *shipment) {
  unlock(shipment);
  shipper_run_destroy(&shipment->run);
}

static void drop_unseen(struct ship *ship) {
  size_t kept = 0;
  for (size_t i = 0; i < ship->count; i++) {
    if (ship->shipments[i].seen)
      ship->shipments[kept++] = ship->shipments[i];
    else
      ship_destroy(&ship->shipments[i]);
  }
  ship->count = kept;
  for (size_t i = 0; i < kept; i++) ship->shipments[i].seen = false;
}

/* The first window that is not over. */
static uint64_t first_open(void) { return (os_wall_ns() / SECOND_NS - MARGIN_SECONDS) / WINDOW_SECONDS; }

/* Whether a trace has to be read. */
static bool may_be_due(const struct target *target, const struct shipment *shipment) {
  if (!target->growing) return !shipment->all && !shipment->is_failed;
  return shipment->run.next < first_open();
}

/* ---- ALONE ---- */

static bool has_another(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SHIPPING, .l_len = 1};
  return !fcntl(descriptor, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static bool set_lock(int descriptor, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = SHIPPING, .l_len = 1};
  return !fcntl(descriptor, F_OFD_SETLK, &lock);
}

/* False: another command has the lock. Two that take it at the same moment both leave it, and wait for
 * a time by chance. */
static bool lock_alone(int descriptor) {
  for (int tries = 0; tries < LOCK_TRIES && !has_another(descriptor); tries++) {
    uint32_t bits;
    if (!set_lock(descriptor, F_RDLCK) || !has_another(descriptor)) return true;
    set_lock(descriptor, F_UNLCK);
    os_random_bytes(&bits, sizeof bits);
    nanosleep(&(struct timespec){.tv_nsec = bits % LOCK_WAIT_NS}, NULL);
  }
  return false;
}

/* The recording of this command that has a lock of the same file: of a process that wrote it before. */
static struct shipment *find_lock(struct ship *ship, int descriptor) {
  struct stat wanted, found;
  if (fstat(descriptor, &wanted)) return NULL;
  for (size_t i = 0; i < ship->count; i++)
    if (ship->shipments[i].lock >= 0 && !fstat(ship->shipments[i].lock, &found) &&
        found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
      return &ship->shipments[i];
  return NULL;
}

/* Whether a recording that has just been locked began after this process, and has no window that is
 * over: so no other command has shipped any. */
static bool ship_is_new(const struct ship *ship, const struct target *target) {
  const struct joined_identity *run = &target->identity;
  uint64_t now_ns = os_monotonic_ns(), window_ns = WINDOW_SECONDS * SECOND_NS;
  return run->wall_ns > ship->began_wall_ns && run->monotonic_ns > ship->began_ns &&
         now_ns >= run->monotonic_ns && input_is_growing(target->path) &&
         (run->wall_ns + now_ns - run->monotonic_ns) / window_ns == run->wall_ns / window_ns;
}

/* False: another command ships it, which is said once. */
static bool ship_is_alone(struct ship *ship, const struct target *target, struct shipment *shipment) {
  if (shipment->lock >= 0) return true;
  int descriptor = open_file(target->path);
  struct shipment *before = descriptor >= 0 ? find_lock(ship, descriptor) : NULL;
  if (before) unlock(before);
  shipment->run.known = shipment->run.is_new = false;
  if (descriptor < 0) return true; /* reading it tells why */
  if (!lock_alone(descriptor)) {
    close(descriptor);
    if (!shipment->is_told) fail_job("%s: another winnow ship ships it", target->path);
    ship->is_locked = shipment->is_told = true;
    return false;
  }
  shipment->lock = descriptor;
  shipment->run.is_new = !shipment->run.next && ship_is_new(ship, target);
  return true;
}

/* A recording into a folder becomes a file at its end: the descriptor of the lock tells where it is. */
static void ship_follow(struct target *target, const struct shipment *shipment) {
  char link[40], path[PATH_MAX];
  if (shipment->lock < 0 || !access(target->path, F_OK)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", shipment->lock);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (input_is_same_file(path, link)) target_move(target, path);
}

/* Descriptors for the locks. */
static void raise_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- one recording ---- */

static void fail_target(struct ship *ship, struct shipment *shipment) {
  ship->is_failed = true;
  if (!shipment || !shipment->is_failed) fail_job("%s", wn_last_error());
  if (shipment) shipment->is_failed = true;
}

/* The first window that was not over for a process that goes on, when its trace began to be read,
 * since that may take long: by the clock of its trace, which stands still while the machine sleeps,
 * and on which its next event will be. */
static uint64_t first_open_of(const struct ship *ship, const struct target *target,
                              const struct clickhouse *clickhouse) {
  uint64_t read_ns = target_time_of(target, ship->read_ns), margin_ns = MARGIN_SECONDS * SECOND_NS;
  return clickhouse_window_of(clickhouse, read_ns > margin_ns ? read_ns - margin_ns : 0);
}

/* Ships what is due of a recording that is prepared. */
static void ship_due(struct ship *ship, struct target *target, struct shipment *shipment,
                     struct clickhouse *clickhouse) {
  char host[sizeof target->identity.host]; /* as the rows have it */
  struct server *server = server_of(ship->servers, ship->server_count, target->identity.host);
  struct shipper *shipper = &server->shipper;
  bool growing = target->growing || input_is_growing(target->path);
  uint64_t last = growing ? first_open_of(ship, target, clickhouse) - 1 : clickhouse_last(clickhouse);
  clickhouse_go_on(clickhouse, growing);
  size_t before = shipper->windows;
  snprintf(host, sizeof host, "%s", target->identity.host);
  utf8_make_plain(host);
  if (last < clickhouse_first(clickhouse) || last < shipment->run.next) {
    shipment->all = !growing;
    return;
  }
  enum http_outcome outcome = shipper_ship(shipper, &shipment->run, clickhouse, host, last);
  server_note(server, outcome, shipper->windows > before);
  shipment->has_some = shipment->has_some || shipper->windows > before;
  shipment->all = !outcome && !growing;
  ship->waits = ship->waits || outcome;
}

static wn_status ship_prepare(struct ship *ship, struct target *target, struct shipment *shipment) {
  const struct ship_options *options = &ship->options->ship;
  struct clickhouse_labels labels = {options->service ? options->service : target->service, options->release};
  struct server *server = server_of(ship->servers, ship->server_count, target->identity.host);
  struct clickhouse *clickhouse;
  struct report report;
  wn_status error = report_ask(target->recording, &(struct question){.at = AT_END}, &report);
  if (error) return error;
  error = clickhouse_create(&report, &labels, CLICKHOUSE_BINARY, &server->shipper.told, &clickhouse);
  if (!error) ship_due(ship, target, shipment, clickhouse);
  if (!error) clickhouse_destroy(clickhouse);
  report_destroy(&report);
  return error;
}

/* Notes that a recording is there, and locks it. NULL: it cannot be shipped now. */
static struct shipment *ship_meet(struct ship *ship, struct target *target) {
  struct shipment *shipment = find_or_add(ship, &target->identity);
  if (!shipment) {
    error_set(WN_ENOMEM, "not enough memory");
    fail_target(ship, NULL);
    return NULL;
  }
  shipment->seen = true;
  ship_follow(target, shipment);
  return !may_be_due(target, shipment) || ship_is_alone(ship, target, shipment) ? shipment : NULL;
}

static void load_and_ship(struct ship *ship, struct target *target) {
  target_end_rest(target);
  ship->read_ns = os_monotonic_ns();
  wn_status error = target_load(target, targets_options(&ship->targets));
  struct shipment *shipment = ship_meet(ship, target); /* another process may have begun to write the file */
  if (shipment && !error) error = ship_prepare(ship, target, shipment);
  if (shipment && error) fail_target(ship, shipment);
  if (shipment && !target->growing && (shipment->all || shipment->is_failed)) unlock(shipment);
  target_unload(target);
}

static void ship_target(struct ship *ship, struct target *target) {
  struct shipment *shipment = ship_meet(ship, target);
  if (!shipment || !may_be_due(target, shipment)) return;
  if (server_rests(server_of(ship->servers, ship->server_count, target->identity.host))) {
    ship->waits = true;
    return;
  }
  load_and_ship(ship, target);
}

/* ---- passes ---- */

static bool is_ended(const struct ship *ship) {
  sigset_t pending, both;
  return !sigpending(&pending) && !sigandset(&both, &pending, &ship->ending) && !sigisemptyset(&both);
}

static void ship_count(const struct ship *ship, size_t *windows, size_t *rows, size_t *recordings) {
  *windows = *rows = *recordings = 0;
  for (size_t i = 0; i < ship->server_count; i++) {
    *windows += ship->servers[i].shipper.windows;
    *rows += ship->servers[i].shipper.rows;
  }
  for (size_t i = 0; i < ship->count; i++) *recordings += ship->shipments[i].has_some;
}

/* What was shipped since this was said last. */
static void ship_say(struct ship *ship) {
  size_t windows, rows, recordings;
  char window_text[64], recording_text[64], row_text[64];
  ship_count(ship, &windows, &rows, &recordings);
  printf("winnow: shipped %s of %s, %s\n", text_number_of(window_text, (double)windows, "window"),
         text_number_of(recording_text, (double)recordings, "recording"),
         text_number_of(row_text, (double)rows, "row"));
  fflush(stdout);
  for (size_t i = 0; i < ship->server_count; i++)
    ship->servers[i].shipper.windows = ship->servers[i].shipper.rows = 0;
  for (size_t i = 0; i < ship->count; i++) ship->shipments[i].has_some = false;
}

/* Whether nothing is to be shipped of a recording any more, and it is not found again. */
static bool ship_is_over(struct ship *ship, const struct target *target) {
  if (target->growing) return false;
  if (access(target->path, F_OK) && (errno == ENOENT || errno == ENOTDIR)) return true;
  const struct shipment *shipment = ship_find(ship, &target->identity);
  return !ship->targets.argument_count && shipment && shipment->all;
}

/* Makes room for others. */
static void drop_over(struct ship *ship) {
  for (size_t i = ship->targets.count; i-- > 0;)
    if (ship_is_over(ship, ship->targets.items[i])) targets_drop(&ship->targets, i);
}

static int say_left_out(struct ship *ship) {
  if (ship->says_left_out) return EXIT_JOB;
  ship->says_left_out = true;
  return fail_job("there are more than %d recordings: the others are left out", SHIPPED_MOST);
}

static void ship_pass(struct ship *ship) {
  ship->waits = ship->is_locked = false;
  targets_look(&ship->targets, NULL);
  for (size_t i = 0; i < ship->targets.count && !is_ended(ship); i++)
    ship_target(ship, ship->targets.items[i]);
  if (!is_ended(ship)) {
    drop_unseen(ship);
    drop_over(ship);
  }
  malloc_trim(0);
}

/* Seconds until the next pass. */
static unsigned ship_pause_of(const struct ship *ship) {
  uint64_t late = MARGIN_SECONDS + ship->spread, now = os_wall_ns() / SECOND_NS - late;
  uint64_t seconds = WINDOW_SECONDS - now % WINDOW_SECONDS, now_ns = os_monotonic_ns();
  for (size_t i = 0; i < ship->server_count && ship->waits; i++) {
    const struct server *server = &ship->servers[i];
    uint64_t until = server->rest_until_ns > now_ns ? (server->rest_until_ns - now_ns) / SECOND_NS + 1 : 1;
    if (server->fails && until < seconds) seconds = until;
  }
  return (unsigned)seconds;
}

/* LOOKS: meets recordings that have begun, and ships those that have ended. */
static void ship_look(struct ship *ship) {
  targets_look(&ship->targets, NULL);
  for (size_t i = 0; i < ship->targets.count && !is_ended(ship); i++) {
    struct target *target = ship->targets.items[i];
    if (target->growing)
      (void)ship_meet(ship, target);
    else
      ship_target(ship, target);
  }
}

/* Waits for the next pass. True: a signal came. */
static bool wait_for_pass(struct ship *ship) {
  uint64_t until_ns = os_monotonic_ns() + ship_pause_of(ship) * SECOND_NS;
  for (uint64_t now_ns; (now_ns = os_monotonic_ns()) < until_ns;) {
    unsigned left = (unsigned)((until_ns - now_ns + SECOND_NS - 1) / SECOND_NS);
    bool looks = !ship->targets.argument_count && left > LOOK_SECONDS;
    if (ending_wait(&ship->ending, looks ? LOOK_SECONDS : left)) return true;
    if (!looks) return false;
    ship_look(ship);
    uint64_t again_ns = os_monotonic_ns() + ship_pause_of(ship) * SECOND_NS; /* a server may fail now */
    if (again_ns < until_ns) until_ns = again_ns;
  }
  return false;
}

static bool is_wrong(const struct ship *ship) {
  for (size_t i = 0; i < ship->server_count; i++)
    if (ship->servers[i].is_wrong) return true;
  return false;
}

static int ship_once(struct ship *ship) {
  do ship_pass(ship);
  while (!is_ended(ship) && ship->waits && !is_wrong(ship) &&
         !ending_wait(&ship->ending, ship_pause_of(ship)));
  if (ship->waits) return EXIT_JOB;
  if (ship->targets.left_out) return say_left_out(ship);
  ship_say(ship);
  return ship->is_failed || ship->is_locked ? EXIT_JOB : 0;
}

static int ship_on(struct ship *ship) {
  bool is_terminal = isatty(STDOUT_FILENO);
  size_t windows, rows, recordings;
  do {
    ship_pass(ship);
    if (ship->targets.left_out) say_left_out(ship);
    ship_count(ship, &windows, &rows, &recordings);
    if (is_terminal && windows) ship_say(ship);
  } while (!wait_for_pass(ship));
  return 0;
}

/* ---- the command line ---- */

static wn_status open_servers(struct ship *ship) {
  const char *const *urls = ship->options->ship.to;
  wn_status error = connection_open(&ship->connection, ship->options);
  for (int i = 0; urls[i] && !error; i++) {
    struct http_options options =
        connection_options(&ship->connection, ship->options, urls[i], &ship->ending);
    error = server_open(&ship->servers[ship->server_count++], &options);
  }
  return error;
}

static void set_clocks(struct ship *ship) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  ship->spread = hash_mix(hash_bytes(host, strlen(host))) % SPREAD_SECONDS;
  ship->began_wall_ns = os_wall_ns();
  ship->began_ns = os_monotonic_ns();
}

static void close_all(struct ship *ship) {
  for (size_t i = 0; i < ship->server_count; i++) server_close(&ship->servers[i]);
  for (size_t i = 0; i < ship->count; i++) ship_destroy(&ship->shipments[i]);
  free(ship->shipments);
  connection_close(&ship->connection);
}

/* ---- shared ---- */

void ship_print_options(FILE *out) { options_print(out, FOR_SHIP); }

int command_ship(int argc, char **argv) {
  static struct report_options options;
  static struct ship ship = {.options = &options};
  int code = options_parse(&options, FOR_SHIP, argc, argv);
  if (!code && !options.ship.to[0])
    code = fail_usage("ship", "where to? usage: winnow ship [OPTION...] --to URL [PID|TRACE|FOLDER...]");
  if (!code) code = connection_check(&options, "--to");
  if (code) return code;
  mallopt(M_ARENA_MAX, 1);
  raise_limit();
  set_clocks(&ship);
  ending_block(&ship.ending);
  wn_status error = open_servers(&ship);
  if (!error) {
    inputs_trim(argv + optind, argc - optind);
    error = targets_open(&ship.targets, SHIPPED_MOST, argv + optind, argc - optind, &options.recording);
    if (!error) code = options.ship.once ? ship_once(&ship) : ship_on(&ship);
    targets_close(&ship.targets);
  }
  close_all(&ship);
  return error ? fail_job("%s", wn_last_error()) : code;
}
/* SPDX-License-Identifier: MIT */
