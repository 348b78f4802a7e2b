#include "actors/openenv/client/servers.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe::openenv {

namespace {

/// The mutex of what sessions of several actors share: who waits, and which connections rest. It is
/// taken once or twice in an episode.
std::mutex& shared_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Returns a number of an error's details, or 0 if it has none.
std::size_t number_in(const nlohmann::json& details, const char* key) {
  if (!details.is_object()) return 0;
  const auto found = details.find(key);
  return found != details.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

}  // namespace

seeker::seeker(std::vector<std::shared_ptr<known_server>> at) : at_(std::move(at)) {
  const std::lock_guard lock(shared_mutex());
  for (const auto& server : at_) {
    server->seekers_.push_back(this);
    ++server->seekers_now_;
  }
}

seeker::~seeker() {
  const std::lock_guard lock(shared_mutex());
  for (const auto& server : at_) {
    std::erase(server->seekers_, this);
    --server->seekers_now_;
  }
  if (!is_told_) return;
  for (const auto& server : at_) server->tell_next_locked();
}

task<bool> seeker::wait(duration limit) {
  const external_result<std::monostate> room("room at an OpenEnv server");
  {
    const std::lock_guard lock(shared_mutex());
    if (std::exchange(is_told_, false)) co_return true;
    room_ = room;
  }
  try {
    co_await with_timeout(room.wait(), limit);
  } catch (const call_error& e) {
    if (e.kind() != error_kind::deadline_exceeded) throw;
  }
  const std::lock_guard lock(shared_mutex());
  room_.reset();
  co_return std::exchange(is_told_, false);
}

bool seeker::is_first() const {
  const std::lock_guard lock(shared_mutex());
  return std::ranges::any_of(at_,
                             [&](const auto& server) { return server->seekers_.front() == this; });
}

void seeker::pass_on() {
  const std::lock_guard lock(shared_mutex());
  is_told_ = true;
}

void seeker::tell() {
  is_told_ = true;
  if (room_) room_->set({});
  room_.reset();
}

void known_server::leave_seat() {
  const std::lock_guard lock(shared_mutex());
  leave_seat_locked();
}

void known_server::leave_seat_locked() {
  --sessions;
  tell_next_locked();
}

void known_server::tell_next_locked() {
  const auto longest =
      std::ranges::find_if(seekers_, [](const seeker* each) { return !each->is_told_; });
  if (longest != seekers_.end()) (*longest)->tell();
}

void known_server::note_refusal(const nlohmann::json& details) {
  if (is_scarce_.exchange(true)) return;
  log::warn("an OpenEnv server is full, so that sessions wait for one another's episodes",
            {{"server", url.text},
             {"slots", slots_in(details)},
             {"slots_in_use", number_in(details, "active_sessions")},
             {"sessions_of_this_process", clients.load()}});
}

void known_server::rest(resting_connection& which, std::shared_ptr<link> way) {
  const std::lock_guard lock(shared_mutex());
  which.way = std::move(way);
  which.place = resting_.insert(resting_.end(), &which);
}

std::shared_ptr<link> known_server::resume(resting_connection& which) {
  const std::lock_guard lock(shared_mutex());
  if (which.way) resting_.erase(which.place);
  return std::exchange(which.way, nullptr);
}

bool known_server::holds(const resting_connection& which) const {
  const std::lock_guard lock(shared_mutex());
  return which.way != nullptr;
}

void known_server::close_resting() {
  const std::lock_guard lock(shared_mutex());
  if (resting_.empty()) return;
  auto& longest = *resting_.front();
  resting_.pop_front();
  std::exchange(longest.way, nullptr)->close();
  longest.metrics->disconnected();
  leave_seat_locked();
}

std::size_t slots_in(const nlohmann::json& details) { return number_in(details, "max_sessions"); }

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
