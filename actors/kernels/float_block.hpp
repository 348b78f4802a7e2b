#pragma once
// Aligned blocks of floats for parameters, gradients and work buffers.

#include <cstddef>
#include <new>
#include <vector>

namespace troupe::detail {

/// Allocates memory that starts on a cache line, so that no vector of a block straddles two.
template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  bool operator==(const line_allocator&) const = default;
};

/// A block of floats that starts on a cache line.
using float_block = std::vector<float, line_allocator<float>>;

/// Grows the block to at least `size` floats and returns them. It never shrinks, so repeated use
/// doesn't allocate.
inline float* grown(float_block& block, std::size_t size) {
  if (block.size() < size) block.resize(size);
  return block.data();
}

}  // namespace troupe::detail
