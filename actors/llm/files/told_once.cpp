#include "actors/llm/files/told_once.hpp"

#include <mutex>
#include <set>
#include <string>

namespace troupe::llm {

namespace {

bool is_new(std::string_view what, log::fields facts) {
  static std::mutex mutex;
  static std::set<std::string> told;
  std::string key(what);
  for (const auto& fact : facts) key += '\n' + std::string(fact.key) + '=' + fact.value;
  const std::lock_guard lock(mutex);
  return told.insert(std::move(key)).second;
}

}  // namespace

void info_once(std::string_view what, log::fields facts) {
  if (is_new(what, facts)) log::info(what, facts);
}

void warn_once(std::string_view what, log::fields facts) {
  if (is_new(what, facts)) log::warn(what, facts);
}

}  // namespace troupe::llm
