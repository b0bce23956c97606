/* The variables that make a process record itself: found, taken away, and given to a program that
 * is executed. */
#ifndef PRELOAD_ENVIRONMENT_H
#define PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* As getenv, which in some C library may take a lock. */
char *environment_variable(const char *name);

/* Copies what the variables say, for environment_make. Once, before one of the next two. */
void environment_keep(void);

/* Takes the variables, and our entry in LD_PRELOAD, out of the process's environment. */
void environment_clean(void);

/* Leaves them there for children. What this process executes next must not overwrite its trace. */
void environment_mark_followers(void);

/* What a program that is executed finds of the variables. */
struct heritage {
  enum {
    HERITAGE_AS_IT_IS, /* what the caller of exec passes */
    HERITAGE_NONE,     /* none of ours */
    HERITAGE_RECORDED  /* all of them, whatever the caller passes */
  } kind;
  unsigned follow;        /* WINNOW_FOLLOW, where children are followed */
  unsigned number, execs; /* WINNOW_NUMBER and WINNOW_EXECS; 0: not set */
};

/* Whether the caller of exec passes a request of its own, for another trace, which then is the one
 * that counts. */
bool environment_asks_otherwise(char *const *environment);

/* Whether `winnow record` asked for the trace, which then tells the traces of one process apart. */
bool environment_is_of_record(void);

/* False if the next program could not read the library or write the trace: the process has changed
 * its root or its user. */
bool environment_is_in_reach(void);

/* An environment for exec in room that the caller has on its stack: nothing is allocated.
 * Async-signal-safe, keep errno. */
size_t environment_room(char *const *environment);
char **environment_make(void *room, char *const *environment, const struct heritage *heritage);

#endif
/* SPDX-License-Identifier: MIT */
