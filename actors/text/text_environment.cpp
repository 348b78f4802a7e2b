#include "actors/text/text_environment.hpp"

#include <mutex>
#include <stdexcept>

namespace troupe {
namespace {

struct registry {
  std::mutex guard;
  std::map<std::string, text_environment_spec, std::less<>> known;
};

registry& the_registry() {
  static registry it;
  return it;
}

}  // namespace

void register_text_environment(text_environment_spec spec) {
  if (spec.name.empty() || !spec.make)
    throw std::invalid_argument(
        "text environment: expected a name and a function that makes it, got \"" + spec.name + '"');
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  auto name = spec.name;
  if (!all.known.try_emplace(name, std::move(spec)).second)
    throw std::invalid_argument("text environment: expected a new name, got \"" + name +
                                "\", which is registered already");
}

const text_environment_spec* find_text_environment(std::string_view name) {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  const auto found = all.known.find(name);
  return found == all.known.end() ? nullptr : &found->second;
}

std::vector<std::string> text_environment_names() {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  std::vector<std::string> names;
  for (const auto& [name, spec] : all.known) names.push_back(name);
  return names;
}

}  // namespace troupe
