#include "runtime/base/told_once.hpp"

#include <utility>

namespace troupe::log {

namespace {

std::string key_of(std::string_view what, fields facts) {
  std::string key(what);
  for (const auto& fact : facts) key += '\n' + std::string(fact.key) + '=' + fact.value;
  return key;
}

}  // namespace

bool known_keys::is_new(std::string key) {
  const std::lock_guard lock(mutex_);
  if (keys_.size() >= most_) return !keys_.contains(key);
  return keys_.insert(std::move(key)).second;
}

bool is_new(std::string key) {
  constexpr std::size_t most = 10'000;
  static known_keys of_this_process(most);
  return of_this_process.is_new(std::move(key));
}

void info_once(std::string_view what, fields facts) {
  if (is_new(key_of(what, facts))) info(what, facts);
}

void warn_once(std::string_view what, fields facts) {
  if (is_new(key_of(what, facts))) warn(what, facts);
}

}  // namespace troupe::log
