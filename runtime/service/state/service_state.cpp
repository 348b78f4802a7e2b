#include "runtime/service/state/service_state.hpp"

#include <algorithm>
#include <unordered_set>

namespace troupe::detail {

namespace {

/// Tells a waiting caller, on its own actor, to try again.
void notify(std::shared_ptr<ticket> t) {
  auto who = t->who;
  who->post([t = std::move(t)] {
    if (t->waiting) t->waiting->notified();
  });
}

}  // namespace

service_state::service_state(std::size_t number, serve_options options,
                             std::shared_ptr<service_places> places)
    : number(number),
      place(places ? places->take() : number),
      options(std::move(options)),
      desired(this->options.replicas),
      places_(std::move(places)) {}

service_state::~service_state() {
  if (places_) places_->give_back(place);
}

std::shared_ptr<const replica_table> service_state::table() const {
  std::lock_guard lock(mutex_);
  return table_;
}

void service_state::publish(std::vector<std::shared_ptr<replica_slot>> slots) {
  const auto by_index = [](const auto& one, const auto& other) {
    return one->index < other->index;
  };
  std::stable_sort(slots.begin(), slots.end(), by_index);
  std::shared_ptr<const replica_table> serving;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    auto next = std::make_shared<replica_table>();
    next->reserve(table_->size() + slots.size());
    auto old = table_->begin();
    replica_table replaced;
    for (auto& slot : slots) {
      while (old != table_->end() && by_index(*old, slot)) next->push_back(*old++);
      if (old != table_->end() && !by_index(slot, *old)) replaced.push_back(*old++);
      next->push_back(std::move(slot));
    }
    next->insert(next->end(), old, table_->end());
    keep_counts_of(replaced);
    table_ = serving = std::move(next);
    version_.fetch_add(1, std::memory_order_release);
  }
  sessions_.serve(std::move(serving));
  call_everybody();
}

void service_state::withdraw(const std::vector<std::shared_ptr<replica_slot>>& slots) {
  take_out(slots, true);
}

service_state::publisher service_state::get_publisher() const {
  std::lock_guard lock(mutex_);
  return publisher_;
}

void service_state::set_publisher(publisher by) {
  std::lock_guard lock(mutex_);
  if (!closed_) publisher_ = std::move(by);
}

/// Adds the counts of replicas that have ended. Whoever reads `counts()` meanwhile has these
/// replicas, and must not have their counts in the sum as well. Requires mutex_.
void service_state::keep_counts_of(const replica_table& gone) {
  if (gone.empty()) return;
  const auto sum = std::make_shared<replica_slot>(0);
  sum->add_counts_of(*ended_);
  for (const auto& slot : gone) sum->add_counts_of(*slot);
  ended_ = sum;
}

void service_state::retract(const std::shared_ptr<replica_slot>& slot) { take_out({slot}, false); }

void service_state::take_out(const std::vector<std::shared_ptr<replica_slot>>& slots, bool drain) {
  std::unordered_set<const replica_slot*> gone;
  for (const auto& slot : slots) gone.insert(slot.get());
  std::shared_ptr<const replica_table> serving;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    auto next = std::make_shared<replica_table>();
    next->reserve(table_->size());
    replica_table lost;
    for (const auto& slot : *table_) {
      if (!gone.contains(slot.get())) {
        next->push_back(slot);
      } else if (drain) {
        slot->leave();
        draining_.push_back(slot);
      } else {
        lost.push_back(slot);
      }
    }
    if (next->size() == table_->size()) return;
    keep_counts_of(lost);
    table_ = serving = std::move(next);
    version_.fetch_add(1, std::memory_order_release);
  }
  sessions_.serve(std::move(serving));
  call_everybody();
}

void service_state::note_version(replica_slot& slot, std::int64_t version) {
  if (version <= slot.version.load(std::memory_order_relaxed)) return;
  slot.version.store(version, std::memory_order_seq_cst);
  call_everybody();
}

void service_state::drained(const std::shared_ptr<replica_slot>& slot) {
  {
    std::lock_guard lock(mutex_);
    if (std::erase(draining_, slot) > 0) keep_counts_of({slot});
  }
  call_everybody();  // Session calls may wait for room there.
}

bool service_state::add_caller(const ref<inbox>& who) {
  std::lock_guard lock(mutex_);
  if (caller_places_.emplace(who.get(), callers_.size()).second) callers_.push_back(who);
  return !given_up_;
}

void service_state::remove_caller(const ref<inbox>& who) {
  std::lock_guard lock(mutex_);
  const auto known = caller_places_.extract(who.get());
  if (!known) return;
  const auto place = known.mapped();
  if (place + 1 < callers_.size()) {
    callers_[place] = std::move(callers_.back());
    caller_places_[callers_[place].get()] = place;
  }
  callers_.pop_back();
}

std::vector<ref<inbox>> service_state::callers() const {
  std::lock_guard lock(mutex_);
  return callers_;
}

void service_state::refuse_callers() {
  std::lock_guard lock(mutex_);
  given_up_ = true;
}

void service_state::close(const std::string& reason) {
  publisher ended;  // Released without the lock.
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = reason;
    ended = std::exchange(publisher_, nullptr);
    keep_counts_of(*table_);
    keep_counts_of(draining_);
    draining_.clear();
    table_ = std::make_shared<replica_table>();
    version_.fetch_add(1, std::memory_order_release);
  }
  sessions_.close();
  call_everybody();
}

std::optional<std::string> service_state::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void service_state::note_crash(const std::string& reason) {
  std::lock_guard lock(mutex_);
  last_crash_ = reason;
}

std::string service_state::last_crash() const {
  std::lock_guard lock(mutex_);
  return last_crash_;
}

bool service_state::wait(const std::shared_ptr<ticket>& t) {
  {
    std::lock_guard lock(mutex_);
    if (t->number == 0) {
      if (members_ >= options.max_waiting) return false;
      ++members_;
      t->number = ++last_number_;
    }
    t->queued = true;
    t->called_for = nullptr;
    queue_.emplace(key_of(*t), t);
    waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  note_wait();
  return true;
}

void service_state::note_wait() {
  if (wait_observer) wait_observer->call_waits();
}

std::vector<std::shared_ptr<ticket>> service_state::queued_by_endpoints() const {
  std::vector<std::shared_ptr<ticket>> theirs;
  std::lock_guard lock(mutex_);
  for (const auto& [key, t] : queue_) {
    if (t->by_slice != 0) theirs.push_back(t);
  }
  return theirs;
}

void service_state::leave(ticket& t, const replica_slot* got) {
  t.waiting = nullptr;
  {
    std::lock_guard lock(mutex_);
    --members_;
    if (t.queued) {
      t.queued = false;
      queue_.erase(key_of(t));
      waiting_.fetch_sub(1);
      return;
    }
    if (t.called_for == got) return;
  }
  offer_room();
}

void service_state::watch(std::shared_ptr<ticket> t) {
  std::lock_guard lock(mutex_);
  watchers_.push_back(std::move(t));
}

void service_state::unwatch(ticket& t) {
  t.waiting = nullptr;
  std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [&](const auto& other) { return other.get() == &t; });
}

void service_state::call_next(const replica_slot& slot) {
  std::shared_ptr<ticket> next;
  {
    std::lock_guard lock(mutex_);
    const auto place = std::find_if(queue_.begin(), queue_.end(), [&](const auto& entry) {
      const auto& t = *entry.second;
      if (t.only) return t.only == &slot;
      return t.min_version <= slot.version.load(std::memory_order_relaxed);
    });
    if (place == queue_.end()) return;
    next = place->second;
    queue_.erase(place);
    waiting_.fetch_sub(1);
    next->queued = false;
    next->called_for = &slot;
  }
  notify(std::move(next));
}

void service_state::offer_room() {
  const auto limit = static_cast<std::int64_t>(options.max_queued);
  const auto now = table();
  for (const auto& slot : *now) {
    if (slot->serving() && slot->pending.load() < limit) room_at(*slot);
  }
}

void service_state::call_everybody() {
  decltype(queue_) all;
  decltype(watchers_) watching;
  {
    std::lock_guard lock(mutex_);
    watching.swap(watchers_);
    all.swap(queue_);
    waiting_.fetch_sub(static_cast<std::int64_t>(all.size()));
    for (auto& [key, t] : all) t->queued = false;
  }
  for (auto& [key, t] : all) notify(std::move(t));
  for (auto& t : watching) notify(std::move(t));
}

std::uint8_t service_state::row_of(const endpoint_info& endpoint) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (endpoints_[i] == &endpoint) return static_cast<std::uint8_t>(i);
  }
  if (endpoints_.size() == max_endpoints - 1) return max_endpoints - 1;
  endpoints_.push_back(&endpoint);
  return static_cast<std::uint8_t>(endpoints_.size() - 1);
}

namespace {

bool has(const std::vector<const endpoint_info*>& list, const endpoint_info& endpoint) {
  return std::find(list.begin(), list.end(), &endpoint) != list.end();
}

}  // namespace

bool service_state::idempotent(const endpoint_info& endpoint) const {
  return has(options.idempotent, endpoint);
}
bool service_state::hedged(const endpoint_info& endpoint) const {
  return has(options.hedged, endpoint);
}
bool service_state::runs_to_end(const endpoint_info& endpoint) const {
  return has(options.run_to_end, endpoint);
}

std::vector<std::string> service_state::endpoint_names() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto* e : endpoints_) names.emplace_back(e->name);
  names.resize(max_endpoints, "other");
  return names;
}

std::vector<std::shared_ptr<const replica_slot>> service_state::counts() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const replica_slot>> all(table_->begin(), table_->end());
  all.insert(all.end(), draining_.begin(), draining_.end());
  all.push_back(ended_);
  return all;
}

std::size_t service_state::draining() const {
  std::lock_guard lock(mutex_);
  return draining_.size();
}

}  // namespace troupe::detail
