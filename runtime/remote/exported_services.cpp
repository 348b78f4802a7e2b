#include "runtime/remote/exported_services.hpp"

#include <utility>

#include "runtime/base/utf8.hpp"
#include "runtime/wire/wire_error.hpp"

namespace troupe::detail {

namespace {

thread_local exported_services::handles* written = nullptr;

}  // namespace

exported_services::writing::writing(handles& into) noexcept
    : before_(std::exchange(written, &into)) {}
exported_services::writing::~writing() { written = before_; }

void exported_services::note(const std::string& name, std::uint64_t number) {
  if (written) written->insert_or_assign(name, number);
}

std::optional<std::uint64_t> exported_services::number_of(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto known = given_.find(name);
  return known == given_.end() ? std::nullopt : std::optional(known->second);
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

exported_services::change exported_services::add(const handles& given) {
  change changed;
  if (given.empty()) return changed;
  std::lock_guard lock(mutex_);
  for (const auto& [name, number] : given) {
    const auto [known, is_new] = given_.emplace(name, number);
    if (!is_new && known->second < number) {
      known->second = number;
      changed.replaced.push_back(name);
    }
    if (early_.erase(name) > 0) changed.awaited.push_back(name);
  }
  return changed;
}

std::string shown(const std::string& name) {
  constexpr std::size_t bytes_max = 100;
  return printable(name, bytes_max);
}

}  // namespace troupe::detail
