/* Names. */
#include "retention/names.h"

#include <stdio.h>

/* ---- shared ---- */

const char *holder_name(const struct graph *graph, uint32_t node, char name[NAME_MOST]) {
  static const char *const kinds[HOLDER_KINDS] = {
      [HOLDER_HANDLES] = "handles", [HOLDER_ROOTS] = "roots of the language",
      [HOLDER_GLOBALS] = "globals", [HOLDER_FINALISERS] = "finalisers that are to run",
      [HOLDER_PINS] = "pins",       [HOLDER_SCOPES] = "handles",
  };
  static const char *const named[HOLDER_KINDS] = {
      [HOLDER_HANDLES] = "root \"%s\"%s",   [HOLDER_ROOTS] = "root \"%s\"%s",
      [HOLDER_GLOBALS] = "global \"%s\"%s", [HOLDER_FINALISERS] = "finaliser \"%s\"%s",
      [HOLDER_PINS] = "pin \"%s\"%s",       [HOLDER_SCOPES] = "handles in %s()%s",
  };
  const struct graph_holder *holder = &graph->holders[node - NODE_HOLDERS];
  char domain[32] = "";
  if (holder->domain) snprintf(domain, sizeof domain, " of domain %llu", (unsigned long long)holder->domain);
  if (!*holder->name)
    snprintf(name, NAME_MOST, "%s%s%s", kinds[holder->kind],
             holder->kind == HOLDER_GLOBALS ? " without a name" : "", domain);
  else
    snprintf(name, NAME_MOST, named[holder->kind], holder->name, domain);
  return name;
}

const char *block_name(const struct graph *graph, uint32_t node, char name[NAME_MOST]) {
  const char *description = graph_description(graph, node);
  snprintf(name, NAME_MOST, "%s%s%s", graph_type_name(graph, graph_type(graph, node)), description ? " " : "",
           description ? description : "");
  return name;
}
/* SPDX-License-Identifier: MIT */
