#pragma once
// Memory of what comes and goes with every call: its message, the call itself, coroutine frames,
// and the vectors that travel in it. It is kept for the next of about the same size, so that calls
// in steady state allocate nothing. Each thread has blocks of its own; those that one thread only
// gives back and another only takes go over in batches.

#include <cstddef>
#include <limits>
#include <new>

namespace troupe {
namespace detail {

/// Uninitialised memory, aligned for any type without an alignment of its own. Any thread. Throws
/// std::bad_alloc.
void* take_memory(std::size_t size);
/// Of the size that was taken. On whichever thread.
void give_memory_back(void* memory, std::size_t size) noexcept;
/// Bytes that all threads together keep for the next, in no use now. Where others take and give
/// meanwhile it is of no one moment.
std::size_t kept_memory();

/// Objects of a class that is derived from it lie in such memory.
struct recycled {
  static void* operator new(std::size_t size) { return take_memory(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    give_memory_back(memory, size);
  }
};

/// The same for containers.
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
