#include "runtime/metrics/label_value.hpp"

#include "runtime/base/utf8.hpp"

namespace troupe::detail {

bool is_label_value(std::string_view value) {
  return value.size() <= label_bytes_max && is_utf8(value);
}

}  // namespace troupe::detail
