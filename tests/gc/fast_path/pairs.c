/* Pairs, as a program makes them: what their fast paths become is counted. */
#include <winnow/heap.h>

wn_value raw_pair(wn_domain *domain, wn_value first, wn_value second);
wn_ref rooted_pair(wn_domain *domain, wn_ref first, wn_ref second);
bool assigned_pair(wn_domain *domain, wn_ref into, wn_ref first, wn_ref second);
wn_ref two_pairs(wn_domain *domain, wn_ref first, wn_ref second);

wn_value raw_pair(wn_domain *domain, wn_value first, wn_value second) {
  wn_value *fields = wn_bump(domain, 2, 0);
  if (__builtin_expect(!fields, 0)) return 0;
  fields[0] = first;
  fields[1] = second;
  return (wn_value)fields;
}

wn_ref rooted_pair(wn_domain *domain, wn_ref first, wn_ref second) {
  return wn_pair(domain, 0, first, second);
}

bool assigned_pair(wn_domain *domain, wn_ref into, wn_ref first, wn_ref second) {
  return wn_assign_pair(domain, into, 0, first, second);
}

/* Too long, so that it is seen that the count notices. */
wn_ref two_pairs(wn_domain *domain, wn_ref first, wn_ref second) {
  return wn_pair(domain, 0, wn_pair(domain, 0, first, second), second);
}
/* SPDX-License-Identifier: MIT */
