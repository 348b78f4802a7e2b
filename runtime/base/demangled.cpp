#include "runtime/base/demangled.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace troupe::detail {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return text ? text.get() : name;
}

}  // namespace troupe::detail
