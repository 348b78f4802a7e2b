#pragma once
// An allocator for objects that come and go with every call: messages, calls, coroutine frames and
// the vectors in them. It keeps freed blocks for later requests of about the same size, so that
// calls in steady state allocate nothing. Each thread keeps blocks of its own. If one thread only
// frees blocks that another one takes, they are handed over in batches.

#include <cstddef>
#include <limits>
#include <new>

namespace troupe {
namespace detail {

/// Returns `size` bytes of uninitialised memory, with the default alignment of operator new. Any
/// thread may call it. Throws std::bad_alloc.
void* take_memory(std::size_t size);
/// Frees memory of take_memory; `size` must be the size that was taken. Any thread may call it.
void give_memory_back(void* memory, std::size_t size) noexcept;
/// Returns the number of free bytes that all threads together keep. It is not a snapshot of one
/// moment if other threads take or free memory meanwhile.
std::size_t kept_memory();

/// The base of classes whose objects are allocated with take_memory.
struct recycled {
  static void* operator new(std::size_t size) { return take_memory(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    give_memory_back(memory, size);
  }
};

/// An allocator for containers that uses take_memory.
template <class T>
struct recycling_allocator {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;

  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_memory(n * sizeof(T)));
  }
  void deallocate(T* items, std::size_t n) noexcept { give_memory_back(items, n * sizeof(T)); }

  template <class U>
  bool operator==(const recycling_allocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace detail
}  // namespace troupe
