#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/wire/block.hpp"

namespace troupe::detail {

/// Reuses the memory of blocks from 64 KiB to 4 MiB. It keeps at most 16 MiB. Fresh memory of that
/// size costs as much as copying into it, because the kernel makes its pages one by one. May be
/// used on any thread.
class block_pool final : public block::keeper, public std::enable_shared_from_this<block_pool> {
 public:
  block_pool() {
    for (auto& kind : free_) kind.reserve(kept_max / smallest);
  }
  ~block_pool() {
    for (auto& kind : free_) {
      for (auto* const data : kind) delete[] data;
    }
  }

  block allocate(std::size_t size) {
    if (size < smallest || size > largest) return block(size);
    auto& kind = free_[kind_of(size)];
    std::byte* data = nullptr;
    {
      const std::lock_guard held(mutex_);
      if (!kind.empty()) {
        data = kind.back();
        kind.pop_back();
        kept_ -= std::bit_ceil(size);
      }
    }
    if (!data) data = new std::byte[std::bit_ceil(size)];
    return {data, size, shared_from_this()};
  }

  void give_back(std::byte* data, std::size_t size) noexcept override {
    const auto whole = std::bit_ceil(size);
    {
      const std::lock_guard held(mutex_);
      auto& kind = free_[kind_of(size)];
      if (kept_ + whole <= kept_max && kind.size() < kind.capacity()) {
        kept_ += whole;
        kind.push_back(data);
        return;
      }
    }
    delete[] data;
  }

 private:
  static constexpr std::size_t smallest = std::size_t{64} << 10;
  static constexpr std::size_t largest = std::size_t{4} << 20;
  static constexpr std::size_t kept_max = std::size_t{16} << 20;

  static std::size_t kind_of(std::size_t size) {
    return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(size) / smallest));
  }

  std::mutex mutex_;
  std::array<std::vector<std::byte*>, 7> free_;  ///< Indexed by size: 64 KiB, 128 KiB ... 4 MiB.
  std::size_t kept_ = 0;
};

}  // namespace troupe::detail
