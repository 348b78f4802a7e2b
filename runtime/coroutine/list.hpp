#pragma once
// An intrusive list for coroutines that wait. Internal to runtime/.

namespace troupe::detail {

/// A link of a doubly linked ring. It lives inside the listed object and leaves its list when it is
/// destroyed. So no coroutine is woken after its frame was destroyed.
struct list_node {
  list_node* previous = this;
  list_node* next = this;

  list_node() = default;
  list_node(const list_node&) = delete;
  list_node& operator=(const list_node&) = delete;
  ~list_node() { unlink(); }

  bool linked() const noexcept { return next != this; }
  void unlink() noexcept {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
};

/// A first-in first-out list of T, which must derive from list_node. It doesn't own its items.
template <class T>
class list {
 public:
  bool empty() const noexcept { return !ring_.linked(); }
  T& front() noexcept { return static_cast<T&>(*ring_.next); }

  void push_back(T& item) noexcept {
    list_node& node = item;
    node.unlink();
    node.previous = ring_.previous;
    node.next = &ring_;
    ring_.previous->next = &node;
    ring_.previous = &node;
  }

  T& pop_front() noexcept {
    T& item = front();
    static_cast<list_node&>(item).unlink();
    return item;
  }

  /// Calls f with each item; f may unlink the item that it is given, and no other.
  template <class F>
  void for_each(F f) {
    for (auto* node = ring_.next; node != &ring_;) {
      auto* following = node->next;
      f(static_cast<T&>(*node));
      node = following;
    }
  }

 private:
  list_node ring_;
};

}  // namespace troupe::detail
