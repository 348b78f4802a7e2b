#pragma once
// A role that the tests serve in processes of other programs (guest_host.cpp).

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/wire/portable_function.hpp"

namespace troupe::testing {

/// A function that has a name in both programs.
struct times {
  int factor;
  int operator()(int n) const { return factor * n; }
};

class guest {
 public:
  using function = portable_function<int(int)>;

  guest(int from, function change) : total_(from), change_(std::move(change)) {}

  int add(int n) { return total_ += change_(n); }
  std::int64_t pid() { return getpid(); }
  /// The file name of the program that this process executes.
  std::string program() { return std::filesystem::read_symlink("/proc/self/exe").filename(); }
  std::vector<double> mirror(std::vector<double> values) { return values; }
  /// The other program doesn't host this one.
  int forgotten() { return 1; }

 private:
  int total_;
  function change_;
};

}  // namespace troupe::testing
