#include "gc/finaliser.h"
#include "gc/domain.h"
void finalisers_each_young_root(struct wn_domain *domain, wn_visit *visit, void *visitor) {
  (void)domain;
  (void)visit;
  (void)visitor;
}
void finalisers_after_minor(struct wn_heap *heap) { (void)heap; }
void finalisers_each_root(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  (void)heap;
  (void)visit;
  (void)visitor;
}
bool finalisers_mark_dead(struct wn_heap *heap, struct marker *marker) {
  (void)heap;
  (void)marker;
  return false;
}
void finalisers_clean(struct wn_heap *heap) { (void)heap; }
void finalisers_cycle_ended(struct wn_heap *heap) { (void)heap; }
void finalisers_run_due(struct wn_domain *domain) { (void)domain; }
void finalisers_leave(struct wn_domain *domain) { (void)domain; }
void finalisers_destroy_domain(struct wn_domain *domain) { (void)domain; }
