#pragma once
// Intrusive reference counting for the runtime's objects that several threads share. Internal to
// runtime/.

#include <atomic>
#include <utility>

namespace troupe::detail {

/// The base of objects that count their holders and are destroyed with the last of them. Any thread
/// may hold one.
class counted {
 public:
  counted() = default;
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

  void hold() const noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void drop() const noexcept {
    // The last holder needs no atomic write: nobody else can be looking.
    if (holders_.load(std::memory_order_acquire) == 1 ||
        holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

 protected:
  virtual ~counted() = default;

 private:
  mutable std::atomic<int> holders_{0};
};

/// A pointer that holds the object it points to.
template <class T>
class ref {
 public:
  ref() = default;
  ref(T* object) noexcept : object_(object) {
    if (object_) object_->hold();
  }
  ref(const ref& other) noexcept : ref(other.object_) {}
  ref(ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  ref(ref<U> other) noexcept : object_(other.release()) {}
  ref& operator=(ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ref() {
    if (object_) object_->drop();
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace troupe::detail
