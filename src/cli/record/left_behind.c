/* Finds the processes that a program left running.
 *
 * The system does not tell which processes a process started: when the parent of a process ends,
 * init or another process adopts it. So this file looks for evidence in the processes that started
 * later than the program.
 *
 * A process that was forked from the program has Winnow's library mapped, and its initial
 * environment has the variable with the program's process number. (The library removes the variable
 * from the list, but its text remains in memory.) A process that has become another program has
 * neither. It counts if it meets three conditions: its process group is that of the program, which
 * other programs of a script can share; its parent is a process that adopts orphans (init, or a
 * process of another session); and it writes where the program wrote. Any other process is not
 * found and not reported. In a container, a script may be init and may have started both `winnow
 * record` and other programs: then only a parent in another session counts.
 *
 * Most programs leave no process: if no process was created after the program, the search is
 * skipped.
 */
#include "cli/record/left_behind.h"

#include "settings/settings.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct process {
  pid_t pid, parent, group, session;
  char state;
  char name[32];
  unsigned long long began; /* in ticks since the system's start */
};

enum { ANCESTORS_MOST = 32, NAMED_MOST = 3 };

static bool read_process(pid_t pid, struct process *process) {
  char path[64], text[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[length] = 0;
  char *name = strchr(text, '('), *behind = strrchr(text, ')');
  if (!name || !behind) return false;
  *behind = 0;
  *process = (struct process){.pid = pid};
  snprintf(process->name, sizeof process->name, "%s", name + 1);
  return sscanf(behind + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &process->state, &process->parent, &process->group, &process->session, &process->began) == 5;
}

static bool has_mapped(pid_t pid, const char *library) {
  char path[64], *line = NULL;
  size_t size = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *file = fopen(path, "re");
  while (file && !found && getline(&line, &size, file) > 0) found = strstr(line, library) != NULL;
  if (file) fclose(file);
  free(line);
  return found;
}

/* Whether a process has the environment that `winnow record` gave the program. */
static bool has_environment_of(pid_t pid, pid_t program) {
  char path[64], wanted[40], *text = NULL;
  size_t size = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
  snprintf(wanted, sizeof wanted, "%s=%d", setting_rows[SETTING_PID].variable, (int)program);
  FILE *file = fopen(path, "re");
  while (file && !found && getdelim(&text, &size, 0, file) > 0) found = !strcmp(text, wanted);
  if (file) fclose(file);
  free(text);
  return found;
}

static bool runs_winnow(pid_t pid) {
  char path[64], own[1024], other[1024];
  ssize_t own_length = readlink("/proc/self/exe", own, sizeof own);
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  ssize_t length = readlink(path, other, sizeof other);
  return length > 0 && length == own_length && !memcmp(own, other, (size_t)length);
}

/* Whether another `winnow record` waits for the process or one of its ancestors, or an ancestor is
 * left from an earlier recording. */
static bool is_of_another_run(const struct process *process, const struct process *program,
                              const char *library) {
  struct process ancestor = *process;
  for (int i = 0; i < ANCESTORS_MOST && ancestor.parent > 1; i++) {
    if (runs_winnow(ancestor.parent)) return true;
    if (!read_process(ancestor.parent, &ancestor)) break;
    if (ancestor.began < program->began && has_mapped(ancestor.pid, library)) return true;
  }
  return false;
}

/* Whether a process writes to the standard output or error of this process, which the program
 * shared. */
static bool shares_output(pid_t pid) {
  for (int fd = 1; fd <= 2; fd++) {
    struct stat own, other;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    if (!fstat(fd, &own) && !stat(path, &other) && own.st_dev == other.st_dev && own.st_ino == other.st_ino)
      return true;
  }
  return false;
}

/* Whether the parent of a process has ended and another process has adopted it. */
static bool is_orphan(const struct process *process) {
  struct process parent;
  return (process->parent == 1 && getppid() != 1) ||
         (read_process(process->parent, &parent) && parent.session != process->session);
}

static bool is_orphan_of(const struct process *process, const struct process *program) {
  return process->group == program->group && process->session == program->session && is_orphan(process) &&
         shares_output(process->pid);
}

/* Whether a process belongs to this recording. A process with the library belongs to the recording
 * that its environment names. If the process executes another program between the two looks, the
 * environment is that program's; so the library is looked for again. */
static bool is_of_this_run(pid_t pid, const struct process *program, const char *library,
                           const struct process *process) {
  if (has_mapped(pid, library)) {
    if (has_environment_of(pid, program->pid)) return true;
    if (has_mapped(pid, library)) return false;
  }
  return is_orphan_of(process, program);
}

static bool left_behind_is_left(pid_t pid, const struct process *program, const char *library,
                                struct process *process) {
  return pid != program->pid && pid != getpid() && read_process(pid, process) && process->state != 'Z' &&
         process->began >= program->began && is_of_this_run(pid, program, library, process) &&
         !is_of_another_run(process, program, library);
}

/* The process number that the system assigned last, to a process or thread; 0: not known. */
static pid_t last_pid(void) {
  int last = 0;
  FILE *file = fopen("/proc/loadavg", "re");
  if (!file || fscanf(file, "%*s %*s %*s %*s %d", &last) != 1) last = 0;
  if (file) fclose(file);
  return last;
}

static void left_behind_add(struct left_behind *left, const char *name) {
  size_t length = strlen(left->names);
  if (left->count++ < NAMED_MOST)
    snprintf(left->names + length, sizeof left->names - length, "%s%s", length ? ", " : "", name);
  else if (left->count == NAMED_MOST + 1)
    snprintf(left->names + length, sizeof left->names - length, ", ...");
}

/* ---- shared ---- */

struct left_behind left_behind_find(pid_t pid, const char *library) {
  struct left_behind left = {0};
  struct process program, process;
  pid_t last = last_pid();
  if (last == pid || !read_process(pid, &program)) return left;
  DIR *all = opendir("/proc");
  for (struct dirent *entry; all && (entry = readdir(all));) {
    pid_t each = (pid_t)atoi(entry->d_name);
    bool later = each > pid || last < pid; /* or the process numbers wrapped around */
    if (each > 0 && later && left_behind_is_left(each, &program, library, &process))
      left_behind_add(&left, process.name);
  }
  if (all) closedir(all);
  return left;
}
/* SPDX-License-Identifier: MIT */
