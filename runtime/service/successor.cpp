#include "runtime/service/successor.hpp"

#include "runtime/service/call/host.hpp"

namespace troupe {

namespace {

/// Returns the actor whose turn or whose end this thread runs, or null.
detail::host* actor_here() noexcept {
  return static_cast<detail::host*>(detail::strand::current_or_null());
}

}  // namespace

bool has_successor() noexcept {
  const auto* here = actor_here();
  return here && here->has_successor();
}

void keep_for_successor(const std::string& key, std::shared_ptr<void> what) {
  if (auto* here = actor_here()) here->keep(key, std::move(what));
}

std::shared_ptr<void> take_from_predecessor(const std::string& key) {
  auto* here = actor_here();
  return here ? here->take_kept(key) : nullptr;
}

}  // namespace troupe
