#include "actors/openenv/client/servers.hpp"

#include <map>
#include <mutex>

namespace troupe::openenv {

std::shared_ptr<known_server> server_at(const std::string& url) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<known_server>> known;
  auto parsed = parse_url(url);
  std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& place = known[parsed.text];
  auto found = place.lock();
  if (!found) place = found = std::make_shared<known_server>(std::move(parsed));
  return found;
}

}  // namespace troupe::openenv
