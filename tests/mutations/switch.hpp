#pragma once

// What `./dev mutate` includes in each file that it changes (tests/mutations.md). Nothing else
// includes it.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace troupe_mutations {

/// As many numbers as there are: 0 is that of no mutation.
inline constexpr int numbers = 1 << 22;

struct state {
  int on = 0;                        ///< the mutation that this process runs with: $TROUPE_MUTATION
  unsigned char* reached = nullptr;  ///< a byte a mutation in the file $TROUPE_MUTATIONS_REACHED
};

/// A mapped file outlives a process that is killed, and is one for a process and its children.
inline state read_environment() {
  state read;
  if (const char* on = std::getenv("TROUPE_MUTATION")) read.on = std::atoi(on);
  if (const char* path = std::getenv("TROUPE_MUTATIONS_REACHED")) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) std::abort();
    void* bytes = ::mmap(nullptr, numbers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) std::abort();
    read.reached = static_cast<unsigned char*>(bytes);
    ::close(file);
  }
  return read;
}

/// Whether this process was started with mutation `number`, 0 < number < numbers.
inline bool is_on(int number) {
  static const state read = read_environment();
  if (read.reached && !__atomic_load_n(read.reached + number, __ATOMIC_RELAXED)) {
    __atomic_store_n(read.reached + number, 1, __ATOMIC_RELAXED);
  }
  return read.on == number;
}

}  // namespace troupe_mutations
