// Linked into a program, this makes it one of another build.

#include "runtime/base/build_stamp.hpp"

namespace troupe::detail {

const std::string& build_stamp() {
  static const std::string stamp = "0.0.9-0123456789abcdef";
  return stamp;
}

}  // namespace troupe::detail
