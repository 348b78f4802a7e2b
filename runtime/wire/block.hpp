#pragma once
// Owned bytes for messages between processes.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace troupe::detail {

/// Bytes with one owner, on the heap or in memory of a link. They are not initialised.
class block {
 public:
  /// Takes memory back from blocks, on any thread.
  class keeper {
   public:
    virtual void give_back(std::byte* data, std::size_t size) noexcept = 0;

   protected:
    ~keeper() = default;
  };

  block() = default;
  /// Allocates `size` bytes on the heap.
  explicit block(std::size_t size) : data_(new std::byte[size]), size_(size) {}
  /// Takes over memory that belongs to `kept_by`. The block holds the keeper, and gives the memory
  /// back to it in the end.
  block(std::byte* data, std::size_t size, std::shared_ptr<keeper> kept_by)
      : data_(data), size_(size), keeper_(std::move(kept_by)) {}
  block(block&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        keeper_(std::move(other.keeper_)) {}
  block& operator=(block other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(keeper_, other.keeper_);
    return *this;
  }
  ~block() {
    if (keeper_) {
      keeper_->give_back(data_, size_);
    } else {
      delete[] data_;
    }
  }

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<keeper> keeper_;
};

}  // namespace troupe::detail
