#include "runtime/service/successor.hpp"

#include "runtime/service/replica/replica.hpp"

namespace troupe {

namespace {

/// Returns the replica whose turn or whose end this thread runs, or null.
detail::replica* replica_here() noexcept {
  return dynamic_cast<detail::replica*>(detail::strand::current_or_null());
}

}  // namespace

bool has_successor() noexcept {
  const auto* here = replica_here();
  return here && here->has_successor();
}

void keep_for_successor(const std::string& key, std::shared_ptr<void> what) {
  if (auto* here = replica_here()) here->keep(key, std::move(what));
}

std::shared_ptr<void> take_from_predecessor(const std::string& key) {
  auto* here = replica_here();
  return here ? here->take_kept(key) : nullptr;
}

}  // namespace troupe
