/* A thread takes one file after the other, with a client of its own. The calling thread waits for
 * all of them, shows progress, and looks for silence and Ctrl-C.
 *
 * ABANDONED: a query ends when its callback of progress says so. But some versions of the library
 * do not call it before a server has begun to send. So threads are detached, and the calling thread
 * gives them a moment to end, no more. The thread that leaves last frees what they share.
 *
 * FALSE MISS: libdebuginfod 0.188 remembers a query that was cancelled as a file that no server
 * has. That entry, an empty file in its cache, is removed. */
#include "symbols/fetch.h"

#include "base/os.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 4, SILENCE_SECONDS = 5, LOOK_MS = 100, GRACE_MS = 1500, PAUSE_SECONDS = 600 };

static const char servers_name[] = "DEBUGINFOD_URLS";
static char *servers;           /* what the variable named at the beginning; NULL: nothing */
static uint64_t rests_until_ns; /* PAUSE */

/* ---- libdebuginfod ---- */

struct debuginfod_client;
typedef int client_progress(struct debuginfod_client *client, long a, long b);

/* Its headers are a package that Winnow does not need: result, name, arguments. */
#define DEBUGINFOD_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(struct debuginfod_client *, begin, (void))                                              \
  FUNCTION(void, end, (struct debuginfod_client *))                                                \
  FUNCTION(int, find_debuginfo, (struct debuginfod_client *, const unsigned char *, int, char **)) \
  FUNCTION(void, set_progressfn, (struct debuginfod_client *, client_progress *))                  \
  FUNCTION(void, set_user_data, (struct debuginfod_client *, void *))                              \
  FUNCTION(void *, get_user_data, (struct debuginfod_client *))                                    \
  FUNCTION(const char *, get_url, (struct debuginfod_client *))

static struct {
#define MEMBER(result, name, arguments) result(*name) arguments;
  DEBUGINFOD_FUNCTIONS(MEMBER)
#undef MEMBER
} debuginfod;

static bool find_function(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found;
}

static bool fetch_load(void) {
  static bool loaded;
  void *library = loaded ? NULL : dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return loaded;
#define FIND(result, name, arguments) find_function(library, "debuginfod_" #name, &debuginfod.name) &&
  loaded = DEBUGINFOD_FUNCTIONS(FIND) true;
#undef FIND
  return loaded;
}

/* ---- what the threads share ---- */

struct job {
  struct fetch *fetch;
  struct fetch_file file; /* `error` is 0 and `path` NULL while it is not done */
  uint64_t began_ns;      /* 0: not yet */
  uint64_t heard_ns;      /* when the last byte came, or when it began */
  long bytes;             /* that came */
  double share;           /* of the file; 0: unknown */
  bool done;
};

/* All but `count` is protected by the lock. */
struct fetch {
  pthread_mutex_t lock;
  size_t references; /* of the threads, and the calling thread */
  size_t count, next, done;
  uint64_t heard_ns, silence_ns;
  bool over;
  struct job job[];
};

static void fetch_leave(struct fetch *fetch) {
  pthread_mutex_lock(&fetch->lock);
  bool last = !--fetch->references;
  pthread_mutex_unlock(&fetch->lock);
  if (!last) return;
  for (size_t i = 0; i < fetch->count; i++) free(fetch->job[i].file.path);
  pthread_mutex_destroy(&fetch->lock);
  free(fetch);
}

/* With the lock. */
static bool is_silent(const struct fetch *fetch, const struct job *job, uint64_t now) {
  return fetch->silence_ns && job->began_ns && !job->done && now - job->heard_ns >= fetch->silence_ns;
}

/* ---- a thread ---- */

static struct job *fetch_take(struct fetch *fetch) {
  pthread_mutex_lock(&fetch->lock);
  struct job *job = fetch->over || fetch->next == fetch->count ? NULL : &fetch->job[fetch->next++];
  if (job) job->began_ns = job->heard_ns = os_monotonic_ns();
  pthread_mutex_unlock(&fetch->lock);
  return job;
}

/* The library's callback: not 0 cancels. Before a server sends, which it does once there is a URL,
 * `a` counts calls; from then on it is the bytes that came, and `b` all of them, if that is known.
 */
static int watch(struct debuginfod_client *client, long a, long b) {
  struct job *job = debuginfod.get_user_data(client);
  struct fetch *fetch = job->fetch;
  uint64_t now = os_monotonic_ns();
  pthread_mutex_lock(&fetch->lock);
  if (debuginfod.get_url(client)) {
    if (a > job->bytes) job->heard_ns = fetch->heard_ns = now;
    job->bytes = a;
    job->share = b > 0 && a <= b ? (double)a / (double)b : 0;
  }
  if (is_silent(fetch, job, now)) job->file.error = ETIMEDOUT;
  if (fetch->over && !job->file.error) job->file.error = ECANCELED;
  int cancel = job->file.error;
  pthread_mutex_unlock(&fetch->lock);
  return cancel;
}

/* FALSE MISS. */
static void remove_miss(const struct fetch_file *file) {
  static const char own[] = "/.debuginfod_client_cache", usual[] = "/debuginfod_client";
  const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
             *xdg = getenv("XDG_CACHE_HOME");
  char path[PATH_MAX], id[2 * FETCH_ID_MOST + 1];
  struct stat found;
  if (!home) home = "/";
  for (size_t i = 0; i < file->build_id_bytes; i++) snprintf(id + 2 * i, 3, "%02x", file->build_id[i]);
  snprintf(path, sizeof path, "%s%s", home, own);
  bool is_own = !stat(path, &found), has_xdg = xdg && *xdg;
  if (cache && *cache)
    snprintf(path, sizeof path, "%s/%s/debuginfo", cache, id);
  else if (is_own)
    snprintf(path, sizeof path, "%s%s/%s/debuginfo", home, own, id);
  else
    snprintf(path, sizeof path, "%s%s%s/%s/debuginfo", has_xdg ? xdg : home, has_xdg ? "" : "/.cache", usual,
             id);
  if (!lstat(path, &found) && S_ISREG(found.st_mode) && !found.st_size) unlink(path);
}

/* A cancelled job has its error already, unless the file came all the same. */
static void fetch_finish(struct fetch *fetch, struct job *job, int fd, char *path) {
  if (fd >= 0) close(fd);
  pthread_mutex_lock(&fetch->lock);
  int cancelled = job->file.error;
  bool silent = cancelled == ETIMEDOUT || fd == -ETIME || fd == -ETIMEDOUT;
  job->file.error = fd >= 0 ? 0 : silent ? ETIMEDOUT : cancelled ? cancelled : -fd;
  job->file.path = fd >= 0 ? path : NULL;
  job->done = true;
  fetch->done++;
  if (silent && fetch->heard_ns < job->began_ns) fetch->over = true;
  if (fd >= 0 || fd == -ENOENT) fetch->heard_ns = cancelled ? fetch->heard_ns : os_monotonic_ns();
  pthread_mutex_unlock(&fetch->lock);
  if (fd == -ENOENT && cancelled) remove_miss(&job->file);
}

static void *fetch_work(void *context) {
  struct fetch *fetch = context;
  struct debuginfod_client *client = debuginfod.begin();
  struct job *job;
  if (client) debuginfod.set_progressfn(client, watch);
  while (client && (job = fetch_take(fetch))) {
    char *path = NULL;
    debuginfod.set_user_data(client, job);
    int fd = debuginfod.find_debuginfo(client, job->file.build_id, (int)job->file.build_id_bytes, &path);
    fetch_finish(fetch, job, fd, path);
  }
  if (client) debuginfod.end(client);
  fetch_leave(fetch);
  return NULL;
}

/* Starts the threads, which leave all signals to the others. */
static void fetch_start(struct fetch *fetch) {
  pthread_attr_t detached;
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&fetch->lock);
  for (size_t i = 0; i < fetch->count && i < THREADS_MOST; i++)
    if (!pthread_create(&thread, &detached, fetch_work, fetch)) fetch->references++;
  pthread_mutex_unlock(&fetch->lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&detached);
}

/* ---- the calling thread ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* Whether SIGINT now only sets the flag. `before` is what to restore then. */
static bool catch_interrupt(struct sigaction *before) {
  struct sigaction catching = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
  sigset_t blocked;
  interrupted = 0;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (sigismember(&blocked, SIGINT) || sigaction(SIGINT, NULL, before) || before->sa_handler == SIG_IGN)
    return false;
  return !sigaction(SIGINT, &catching, NULL);
}

/* With the lock: how much is done; and whether all that threads wait for is silent. */
static double fetch_look(struct fetch *fetch, bool *stuck) {
  double done = 0;
  size_t running = 0, silent = 0;
  uint64_t now = os_monotonic_ns();
  for (size_t i = 0; i < fetch->count; i++) {
    const struct job *job = &fetch->job[i];
    done += job->done ? 1 : job->share;
    running += job->began_ns && !job->done;
    silent += is_silent(fetch, job, now);
  }
  *stuck = silent && silent == running;
  return done / (double)fetch->count;
}

/* Waits until all files are done, or it is over: by silence or Ctrl-C; then for the threads to end.
 */
static void fetch_wait_for(struct fetch *fetch, fetch_progress *progress, void *context) {
  const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L}, moment = {.tv_nsec = 1000000L};
  uint64_t over_ns = 0;
  for (int looks = 0;; looks++) {
    bool stuck, running;
    pthread_mutex_lock(&fetch->lock);
    double done = fetch_look(fetch, &stuck);
    running = fetch->references > 1;
    if (interrupted) fetch->over = true;
    bool over = fetch->over;
    pthread_mutex_unlock(&fetch->lock);
    if (progress) progress(done, context);
    uint64_t now = os_monotonic_ns();
    if ((over || stuck) && !over_ns) over_ns = now + GRACE_MS * UINT64_C(1000000);
    if (!over && !stuck) over_ns = 0;
    if (!running || (over_ns && now >= over_ns)) return;
    nanosleep(looks < 50 ? &moment : &pause, NULL); /* which a signal ends */
  }
}

/* Moves the results to the caller, and leaves. */
static void fetch_give(struct fetch *fetch, struct fetch_file *files) {
  pthread_mutex_lock(&fetch->lock);
  bool over = fetch->over;
  for (size_t i = 0; i < fetch->count; i++) over |= fetch->job[i].began_ns && !fetch->job[i].done;
  if (over) rests_until_ns = os_monotonic_ns() + PAUSE_SECONDS * UINT64_C(1000000000);
  fetch->over = true;
  for (size_t i = 0; i < fetch->count; i++) {
    struct job *job = &fetch->job[i];
    int error = job->file.error ? job->file.error : interrupted ? ECANCELED : over ? ETIMEDOUT : EAGAIN;
    files[i].path = job->file.path;
    files[i].error = job->file.path ? 0 : error;
    job->file.path = NULL;
  }
  pthread_mutex_unlock(&fetch->lock);
  fetch_leave(fetch);
}

static struct fetch *fetch_make(const struct fetch_file *files, size_t count) {
  struct fetch *fetch = calloc(1, sizeof *fetch + count * sizeof *fetch->job);
  if (!fetch) return NULL;
  pthread_mutex_init(&fetch->lock, NULL);
  fetch->references = 1;
  fetch->count = count;
  fetch->silence_ns = fetch_silence() * UINT64_C(1000000000);
  for (size_t i = 0; i < count; i++) {
    fetch->job[i] = (struct job){.fetch = fetch, .file = files[i]};
    fetch->job[i].file.error = 0;
  }
  return fetch;
}

/* ---- shared ---- */

void fetch_begin(void) {
  const char *named = getenv(servers_name);
  if (!named || !named[strspn(named, " ")]) return;
  free(servers);
  servers = strdup(named);
  setenv(servers_name, "", 1);
}

bool fetch_has_servers(void) { return servers && os_monotonic_ns() >= rests_until_ns; }

unsigned fetch_silence(void) {
  const char *given = getenv("DEBUGINFOD_TIMEOUT");
  int seconds = given && *given ? atoi(given) : SILENCE_SECONDS;
  return seconds > 0 ? (unsigned)seconds : 0;
}

void fetch_files(struct fetch_file *files, size_t count, fetch_progress *progress, void *context) {
  struct sigaction before;
  for (size_t i = 0; i < count; i++) files[i].path = NULL, files[i].error = ENOSYS;
  if (!count || !servers || !fetch_load() || setenv(servers_name, servers, 1)) return;
  struct fetch *fetch = fetch_make(files, count);
  if (fetch) {
    bool caught = catch_interrupt(&before);
    fetch_start(fetch);
    fetch_wait_for(fetch, progress, context);
    fetch_give(fetch, files);
    if (caught) sigaction(SIGINT, &before, NULL);
  }
  setenv(servers_name, "", 1);
}
/* SPDX-License-Identifier: MIT */
