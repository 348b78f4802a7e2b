#pragma once
// Counts the bytes that the other side of a connection makes this process hold. Internal to
// runtime/.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace troupe::detail {

/// A number of bytes with a bound. May be used on any thread.
class byte_count {
 public:
  /// `fell` is called, on the thread that removes bytes, when the count falls from above the bound
  /// to the bound or below it.
  explicit byte_count(std::size_t bound, std::function<void()> fell = nullptr)
      : bound_(bound), fell_(std::move(fell)) {}

  std::size_t bound() const noexcept { return bound_; }
  std::size_t bytes() const noexcept { return bytes_.load(); }
  bool is_above() const noexcept { return bytes() > bound_; }

  void add(std::size_t size) noexcept { bytes_.fetch_add(size); }
  void remove(std::size_t size) {
    const auto before = bytes_.fetch_sub(size);
    if (fell_ && before > bound_ && before - size <= bound_) fell_();
  }

 private:
  const std::size_t bound_;
  const std::function<void()> fell_;
  std::atomic<std::size_t> bytes_{0};
};

/// Bytes that are in a byte_count as long as the object lives.
class counted_bytes {
 public:
  counted_bytes(std::shared_ptr<byte_count> in, std::size_t size)
      : in_(std::move(in)), size_(size) {
    in_->add(size_);
  }
  counted_bytes(const counted_bytes&) = delete;
  ~counted_bytes() { in_->remove(size_); }

 private:
  const std::shared_ptr<byte_count> in_;
  const std::size_t size_;
};

}  // namespace troupe::detail
