#include "tests/algorithms/allocations/count.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t counted = 0;

}  // namespace

// NOLINTBEGIN: replacing these is how allocations are counted
void* operator new(std::size_t size) {
  ++counted;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace troupe::testing {

std::int64_t allocations() { return counted; }

}  // namespace troupe::testing
