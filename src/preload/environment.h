/* The variables that make a process record itself: how a process reads them, takes them away, and
 * gives them to a program that it executes. */
#ifndef PRELOAD_ENVIRONMENT_H
#define PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* As getenv, which takes a lock in some C libraries. */
char *environment_variable(const char *name);

/* Copies the values of the variables, for environment_make. Called once, before environment_clean
 * or environment_mark_followers. */
void environment_keep(void);

/* Takes the variables, and our entry in LD_PRELOAD, out of the process's environment. */
void environment_clean(void);

/* Leaves the variables in the environment for children, but makes them say that the program that
 * inherits them is a child; and takes WINNOW_OVER away, lest a program that this process executes
 * without our exec functions writes over this process's trace. */
void environment_mark_followers(void);

/* Which of our variables the next program finds in its environment. */
struct inherited {
  enum {
    INHERITED_AS_IT_IS, /* those that the caller of exec passes */
    INHERITED_NONE,     /* none of ours */
    INHERITED_RECORDED  /* all of them, whatever the caller passes */
  } kind;
  unsigned follow;  /* WINNOW_FOLLOW, where children are followed */
  const char *over; /* WINNOW_OVER, shorter than SETTING_OVER_MOST; NULL: not set */
};

/* Whether the environment that the caller of exec passes asks for another trace. Then it is passed
 * on as it is. */
bool environment_asks_otherwise(char *const *environment);

/* Whether `winnow record` asked for the trace. If so, `winnow record` tells the traces of one
 * process apart at the end. */
bool environment_is_of_record(void);

/* False if the next program could not read the library or write the trace, because the process has
 * changed its root or its user. */
bool environment_is_in_reach(void);

/* environment_make makes an environment for exec in `room`, which has as many bytes as
 * environment_room says; it allocates nothing. Both are async-signal-safe and keep errno. */
size_t environment_room(char *const *environment);
char **environment_make(void *room, char *const *environment, const struct inherited *inherited);

#endif
/* SPDX-License-Identifier: MIT */
