#include "runtime/service/call/caller.hpp"

#include <stdexcept>

#include "runtime/service/call/pending_call.hpp"

namespace troupe::detail {

namespace {

/// The control calls that a full queue still takes, because weights and health checks must not wait
/// for work.
constexpr std::int64_t control_room = 64;

std::int64_t limit_of(const service_view& view, const call_options& options) {
  const auto limit = static_cast<std::int64_t>(view.state->options.max_queued);
  return options.priority == priority::control ? limit + control_room : limit;
}

}  // namespace

caller::caller(strand& home, const ref<inbox>& me, std::function<void(inbox&)> watch,
               std::uint64_t seed)
    : home_(home), me_(me), watch_(std::move(watch)), random_state_(seed | 1) {}

caller& caller::current() {
  auto* here = strand::current().calls();
  if (!here) throw std::logic_error("a service was called outside of an actor");
  return *here;
}

/// Uses xorshift64 (Marsaglia 2003), which is cheap and good enough to choose between replicas.
std::uint32_t caller::random() noexcept {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return static_cast<std::uint32_t>(random_state_ >> 32);
}

service_view& caller::first_view(service_state& service) {
  if (views_.size() <= service.place) views_.resize(service.place + 1);
  auto& fresh = views_[service.place];
  fresh = std::make_unique<service_view>();
  fresh->state = service.shared_from_this();
  fresh->given_up = !service.add_caller(me_);
  refresh(*fresh);
  return *fresh;
}

std::uint8_t caller::row_of(service_view& view, const endpoint_info& endpoint) {
  if (view.rows.size() <= endpoint.number) view.rows.resize(endpoint.number + 1);
  auto& row = view.rows[endpoint.number];
  if (row == 0) row = static_cast<std::uint8_t>(view.state->row_of(endpoint) + 1);
  return static_cast<std::uint8_t>(row - 1);
}

void caller::refresh(service_view& view) {
  view.version = view.state->version();
  const auto table = view.state->table();
  std::vector<std::shared_ptr<known_replica>> links;
  links.reserve(table->size());
  for (const auto& slot : *table) links.push_back(link_to(slot));
  view.links = std::move(links);
}

const std::shared_ptr<known_replica>& caller::link_to(const std::shared_ptr<replica_slot>& slot) {
  auto& known = links_[slot->where.get()];
  if (!known) {
    known = std::make_shared<known_replica>(slot);
    watch_(*slot->where);
  }
  return known;
}

namespace {

bool usable(const known_replica& l, const call_options& options) {
  if (l.ended || !l.slot->serving()) return false;
  return options.min_version == any_version ||
         l.slot->version.load(std::memory_order_seq_cst) >= options.min_version;
}

std::int64_t load_of(const known_replica& l) {
  return l.slot->pending.load(std::memory_order_relaxed);
}

/// The live links of a view as routers see them.
class live_links final : public replica_view {
 public:
  live_links(const std::vector<std::shared_ptr<known_replica>>& links, const call_options& options,
             std::vector<std::size_t>& live, std::function<std::uint32_t()> random)
      : links_(links), live_(live), random_(std::move(random)) {
    live_.clear();
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (usable(*links[i], options)) live_.push_back(i);
    }
  }
  std::size_t size() const override { return live_.size(); }
  std::size_t pending(std::size_t i) const override {
    return static_cast<std::size_t>(load_of(at(i)));
  }
  std::size_t sessions(std::size_t i) const override {
    return static_cast<std::size_t>(at(i).slot->sessions.load(std::memory_order_relaxed));
  }
  std::size_t index(std::size_t i) const override { return at(i).slot->index; }
  std::uint32_t random() override { return random_(); }

 private:
  const known_replica& at(std::size_t i) const { return *links_[live_[i]]; }
  const std::vector<std::shared_ptr<known_replica>>& links_;
  std::vector<std::size_t>& live_;
  std::function<std::uint32_t()> random_;
};

}  // namespace

/// Returns the position in view.links that the router prefers. Only if there are links.
std::size_t caller::choose(service_view& view, const call_options& options) {
  const auto& links = view.links;
  if (auto* router = view.state->options.router.get()) {
    live_links seen(links, options, live_, [this] { return random(); });
    return live_.empty() ? 0 : live_.at(router->pick(seen, options.key));
  }
  if (links.size() == 1) return 0;
  // Power of two choices without a router object.
  const auto n = links.size();
  const std::size_t first = (std::uint64_t{random()} * n) >> 32;
  std::size_t second = (std::uint64_t{random()} * (n - 1)) >> 32;
  if (second >= first) ++second;
  if (!usable(*links[first], options)) return second;
  if (!usable(*links[second], options)) return first;
  return load_of(*links[first]) <= load_of(*links[second]) ? first : second;
}

known_replica* caller::take_room(service_view& view, const call_options& options) {
  const auto& links = view.links;
  const auto limit = limit_of(view, options);
  const auto take = [&](known_replica& l) {
    return usable(l, options) && l.slot->take_room(limit);
  };
  if (links.empty()) return nullptr;
  const auto choice = choose(view, options);
  if (take(*links[choice])) return links[choice].get();
  for (std::size_t step = 1; step < links.size(); ++step) {
    auto& other = *links[(choice + step) % links.size()];
    if (take(other)) return &other;
  }
  return nullptr;
}

known_replica* caller::take_room_at(service_view& view, const call_options& options,
                                    const std::shared_ptr<replica_slot>& slot) {
  if (slot->ended()) return nullptr;
  const auto& links = view.links;
  // While all replicas serve, each link stands at its replica's index.
  const bool in_place = slot->index < links.size() && links[slot->index]->slot == slot;
  auto& there = in_place ? *links[slot->index] : *link_to(slot);
  if (there.ended || !slot->take_room(limit_of(view, options))) return nullptr;
  return &there;
}

known_replica* caller::take_room_beside(service_view& view, const call_options& options,
                                        const replica_slot& slot) {
  known_replica* best = nullptr;
  for (const auto& l : view.links) {
    if (!usable(*l, options) || l->slot.get() == &slot) continue;
    if (!best || load_of(*l) < load_of(*best)) best = l.get();
  }
  return best && best->slot->take_room(limit_of(view, options)) ? best : nullptr;
}

void caller::tell_all_lost(const service_state& service,
                           const std::shared_ptr<replica_slot>& slot) {
  for (const auto& who : service.callers()) {
    who->post([slot] { current().ended(*slot->where); });
  }
}

void caller::tell_all_stopped(service_state& service) {
  service.refuse_callers();
  for (const auto& who : service.callers()) {
    who->post([stopped = service.shared_from_this()] { current().give_up(*stopped); });
  }
}

void caller::ended(const inbox& where) {
  const auto place = links_.find(&where);
  if (place == links_.end()) return;
  const auto gone = place->second;
  // An abandoned replica is reported twice: when it is abandoned, and when its actor ends. The link
  // stays until both reports have come, so that no other mailbox gets the watched address.
  const bool comes_again = gone->slot->abandoned() && !gone->ended;
  if (!comes_again) links_.erase(place);
  gone->ended = true;
  list<attempt> lost;
  while (!gone->in_flight.empty()) lost.push_back(gone->in_flight.front());
  while (!lost.empty()) {
    auto& by = lost.pop_front();
    by.owner.lost(by);
  }
}

void caller::give_up(const service_state& service) {
  if (service.place >= views_.size()) return;
  auto& known = views_[service.place];
  if (!known) return;
  known->given_up = true;
  if (known->awaited > 0) return;
  known->state->remove_caller(me_);
  known = nullptr;
}

void caller::give_up_later(service_view& view) {
  me_->post([service = view.state] { current().give_up(*service); });
}

void caller::forget() {
  for (const auto& view : views_) {
    if (view) view->state->remove_caller(me_);
  }
  views_.clear();
  links_.clear();
}

void caller::tick(time_point now) {
  wheel_.expire(
      now, [](timing_wheel::entry& e) { static_cast<pending_call::alarm&>(e).owner.expired(); });
}

}  // namespace troupe::detail
