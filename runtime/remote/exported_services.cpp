#include "runtime/remote/exported_services.hpp"

#include <utility>

#include "runtime/base/utf8.hpp"
#include "runtime/wire/wire_error.hpp"

namespace troupe::detail {

namespace {

thread_local exported_services::names* written = nullptr;

}  // namespace

exported_services::writing::writing(names& into) noexcept
    : before_(std::exchange(written, &into)) {}
exported_services::writing::~writing() { written = before_; }

void exported_services::note(const std::string& name) {
  if (written) written->insert(name);
}

bool exported_services::has(const std::string& name) const {
  std::lock_guard lock(mutex_);
  return given_.contains(name);
}

bool exported_services::asked_for(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (given_.contains(name)) return true;
  if (name.size() > early_name_max || (early_.size() >= early_max && !early_.contains(name))) {
    throw wire_error("watch for more than " + std::to_string(early_max) +
                     " services, or for a name of more than " + std::to_string(early_name_max) +
                     " bytes, that it was not given");
  }
  early_.insert(name);
  return false;
}

std::vector<std::string> exported_services::add(const names& given) {
  std::vector<std::string> awaited;
  if (given.empty()) return awaited;
  std::lock_guard lock(mutex_);
  for (const auto& name : given) {
    given_.insert(name);
    if (early_.erase(name) > 0) awaited.push_back(name);
  }
  return awaited;
}

std::string shown(const std::string& name) {
  constexpr std::size_t bytes_max = 100;
  return printable(name, bytes_max);
}

}  // namespace troupe::detail
