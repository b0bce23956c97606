/* The collected heap for C++11 and later: its heaps, domains, scopes, handles, global roots, pins
 * and blocking sections as objects that end by themselves.
 *
 *   winnow::heap heap;
 *   winnow::domain d;
 *   if (heap.open() || d.attach(heap)) return puts(wn_last_error()), 1;
 *   {
 *     winnow::scope here(d);
 *     winnow::handle list(d, wn_int(0));
 *     for (int i = 0; i < 1000; i++) wn_push_int(d, list, 0, i);
 *   }
 *
 * A domain and a handle are what the functions of the C headers take, so these are used beside the
 * objects. Nothing here throws or allocates. A failure is a wn_status, or an empty object, and
 * wn_last_error says more.
 *
 * An exception may leave a scope, but neither a blocking section in which a scope is open, nor a
 * function that the heap calls: a body, a finaliser, a hook, a callback of a profile. Such
 * functions should be noexcept. */
#ifndef WINNOW_HEAP_HPP
#define WINNOW_HEAP_HPP

#include <winnow/gc.h>

namespace winnow {

/* WN_HEAP_DEFAULTS; set members afterwards. */
inline wn_heap_options defaults() noexcept {
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wc++20-designator"
#else
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wc++20-extensions"
#endif
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
  wn_heap_options options = WN_HEAP_DEFAULTS;
#pragma GCC diagnostic pop
  return options;
}

/* A heap. It is closed at the end of the object, after all domains of it have ended; a heap in which
 * a domain is still attached then stays open. */
class heap {
public:
  heap() noexcept = default;
  heap(heap &&other) noexcept : heap_(other.release()) {}
  heap &operator=(heap &&other) noexcept {
    if (this != &other) {
      close();
      heap_ = other.release();
    }
    return *this;
  }
  ~heap() { close(); }

  /* As wn_heap_open. WN_ESTATE: it is open. */
  wn_status open() noexcept { return heap_ ? WN_ESTATE : wn_heap_open(nullptr, &heap_); }
  wn_status open(const wn_heap_options &options) noexcept {
    return heap_ ? WN_ESTATE : wn_heap_open(&options, &heap_);
  }

  /* As wn_heap_close; WN_OK if it is not open. */
  wn_status close() noexcept {
    wn_status status = heap_ ? wn_heap_close(heap_) : WN_OK;
    if (!status) heap_ = nullptr;
    return status;
  }

  /* The heap, which the caller closes from now on. */
  wn_heap *release() noexcept {
    wn_heap *released = heap_;
    heap_ = nullptr;
    return released;
  }

  operator wn_heap *() const noexcept { return heap_; }

private:
  wn_heap *heap_ = nullptr;
};

/* A domain to which the calling thread is attached. It is detached at the end of the object, by the
 * same thread, outside all scopes of the domain. Functions that the heap calls get a wn_domain
 * instead. */
class domain {
public:
  domain() noexcept = default;
  domain(const domain &) = delete;
  domain &operator=(const domain &) = delete;
  ~domain() { detach(); }

  /* As wn_domain_attach. WN_ESTATE: it is attached. */
  wn_status attach(wn_heap *heap) noexcept { return domain_ ? WN_ESTATE : wn_domain_attach(heap, &domain_); }

  /* As wn_domain_detach; WN_OK if it is not attached. */
  wn_status detach() noexcept {
    wn_status status = domain_ ? wn_domain_detach(domain_) : WN_OK;
    if (!status) domain_ = nullptr;
    return status;
  }

  operator wn_domain *() const noexcept { return domain_; }

private:
  wn_domain *domain_ = nullptr;
};

/* A handle. It is empty if an allocation failed. Copies are of the same slot, and all end with the
 * scope in which the handle was made. */
class handle {
public:
  handle() noexcept = default;
  handle(wn_domain *domain, wn_ref ref) noexcept : domain_(domain), ref_(ref) {}
  handle(wn_domain *domain, wn_value value) noexcept : handle(domain, wn_root(domain, value)) {}

  explicit operator bool() const noexcept { return !wn_is_null(ref_); }
  operator wn_ref() const noexcept { return ref_; }

  /* Stale after the next call that may collect. */
  wn_value value() const noexcept { return wn_value_of(ref_); }
  bool is_int() const noexcept { return wn_is_int(value()); }
  intptr_t to_int() const noexcept { return wn_to_int(value()); }
  size_t words() const noexcept { return wn_words(value()); }
  unsigned tag() const noexcept { return wn_tag(value()); }
  void *bytes() const noexcept { return wn_bytes(ref_); }

  /* A new handle of a field's value. */
  handle operator[](size_t i) const noexcept { return handle(domain_, wn_get(domain_, ref_, i)); }
  void set(size_t i, wn_ref value) const noexcept { wn_set(domain_, ref_, i, value); }
  void set(size_t i, intptr_t n) const noexcept { wn_set_int(domain_, ref_, i, n); }

  /* This handle gets another value; its copies do, too. */
  void assign(wn_ref from) const noexcept { wn_assign(ref_, from); }

private:
  wn_domain *domain_ = nullptr;
  wn_ref ref_ = {nullptr};
};

/* A block as of wn_alloc, and one as of wn_alloc_bytes. */
inline handle alloc(wn_domain *domain, size_t words, unsigned tag) noexcept {
  return handle(domain, wn_alloc(domain, words, tag));
}
inline handle alloc_bytes(wn_domain *domain, size_t bytes) noexcept {
  return handle(domain, wn_alloc_bytes(domain, bytes));
}

/* Handles that are made after it die at its end. Scopes end in the reverse of their order. */
class scope {
public:
  explicit scope(wn_domain *domain, const char *function = __builtin_FUNCTION()) noexcept
      : scope_(wn_scope_enter_in(domain, function)) {}
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
  ~scope() { wn_scope_leave(&scope_); }

  /* As wn_escape: the last operation in the scope. */
  handle escape(wn_ref ref) noexcept { return handle(scope_.domain, wn_escape(&scope_, ref)); }

private:
  wn_scope scope_;
};

/* A global root. It is freed at the end of the object, by a thread of the domain that made it. A
 * thread of another domain that uses it or ends it first calls `in` with its own domain. */
class global {
public:
  global() noexcept = default;
  global(wn_domain *domain, wn_ref ref) noexcept : domain_(domain), global_(wn_global_new(domain, ref)) {}
  global(global &&other) noexcept : domain_(other.domain_), global_(other.global_) {
    other.global_ = nullptr;
  }
  global &operator=(global &&other) noexcept {
    wn_domain *const domain = other.domain_;
    wn_global *const moved = other.global_;
    if (this == &other) return *this;
    other.global_ = nullptr;
    reset();
    domain_ = domain;
    global_ = moved;
    return *this;
  }
  ~global() { reset(); }

  void reset() noexcept {
    if (global_) wn_global_free(domain_, global_);
    global_ = nullptr;
  }
  void in(wn_domain *domain) noexcept { domain_ = domain; }

  explicit operator bool() const noexcept { return global_ != nullptr; }
  handle get() const noexcept { return handle(domain_, wn_global_get(domain_, global_)); }
  void set(wn_ref ref) const noexcept { wn_global_set(domain_, global_, ref); }

private:
  wn_domain *domain_ = nullptr;
  wn_global *global_ = nullptr;
};

/* A block stays where it is as long as the object is there. The handle is of an outer scope. */
class pin {
public:
  pin(wn_domain *domain, wn_ref block) noexcept
      : domain_(domain), block_(block), status_(wn_pin(domain, block)) {}
  pin(const pin &) = delete;
  pin &operator=(const pin &) = delete;
  ~pin() {
    if (!status_) wn_unpin(domain_, block_);
  }
  wn_status status() const noexcept { return status_; }

private:
  wn_domain *domain_;
  wn_ref block_;
  wn_status status_;
};

/* A blocking section: until its end the thread uses neither the domain nor a value. */
class blocking {
public:
  explicit blocking(wn_domain *domain) noexcept : domain_(domain) { wn_blocking_begin(domain_); }
  blocking(const blocking &) = delete;
  blocking &operator=(const blocking &) = delete;
  ~blocking() { wn_blocking_end(domain_); }

private:
  wn_domain *domain_;
};

} // namespace winnow
#endif
/* SPDX-License-Identifier: MIT */
