#pragma once
// Lets a role keep what is slow to make, such as a process, for the role that takes its place after
// system::stop_all.

#include <memory>
#include <string>

namespace troupe {

/// Returns true in the destructor of a role that is about to have a successor, because its system
/// stops all services to serve them anew. Otherwise, and outside of a role, it returns false.
bool has_successor() noexcept;

/// Keeps `what` under `key` for the replica of the same index in the next service of the same name.
/// What nobody takes within ten seconds is dropped, and so is what an earlier call kept under the
/// same key. Outside of a role it drops `what` at once.
void keep_for_successor(const std::string& key, std::shared_ptr<void> what);

/// Returns what the predecessor of the calling role kept under `key`, once; null if there is
/// nothing.
std::shared_ptr<void> take_from_predecessor(const std::string& key);

}  // namespace troupe
