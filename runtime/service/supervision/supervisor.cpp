#include "runtime/service/supervision/supervisor.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"
#include "runtime/base/scarcity.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/service/call/pending_call.hpp"
#include "runtime/service/replica/replica.hpp"
#include "runtime/service/supervision/autoscaler.hpp"

namespace troupe::detail {

supervisor::supervisor(caf::actor_config& config, replica_context& system,
                       std::shared_ptr<service_state> service,
                       std::shared_ptr<const role_factory> factory,
                       std::function<void(std::exception_ptr)> started)
    : host(config, system, "supervisor of " + service->options.name, turns::assured),
      system_(system),
      service_(std::move(service)),
      factory_(std::move(factory)),
      started_(std::move(started)),
      jitter_(draws_for("backoff")) {
  made();
}

void supervisor::starting() {
  service_->set_publisher([me = self(), this](std::shared_ptr<publication> request) {
    me->post([this, request = std::move(request)] { distribute(request); });
  });
  start_watch_ = std::make_shared<start_watch>(
      system_, service_, [me = self(), this](start_watch::late_slots late) {
        me->post([this, late = std::move(late)] { starts_seen(late); });
      });
  for (std::size_t i = 0; i < service_->options.replicas; ++i) {
    places_.push_back(std::make_shared<place>(i));
    start_replica(places_.back());
  }
  if (service_->options.autoscale.max > 0) start_root(autoscale());
  const bool hangs_seen = service_->options.max_call_time != no_limit && system_.turns_take_time();
  if (hangs_seen) start_root(watch_for_hung());
}

void supervisor::start_replica(const place_ptr& at) {
  auto ready = [me = self(), this, at](std::shared_ptr<replica_slot> slot) {
    me->post([this, at, slot = std::move(slot)] { serves(at, slot); });
  };
  const bool wants_thread = service_->options.placement == placement::thread;
  const bool own_thread = wants_thread && !system_.deterministic();
  starts_.resize(std::max(starts_.size(), at->index + 1));
  const replica_info info{at->index, starts_[at->index]++};
  at->slot = std::make_shared<replica_slot>(at->index);
  at->given = 0;
  at->giving = false;
  at->called = nullptr;
  at->began = now();
  const auto& where = service_->options.placement;
  try {
    if (own_thread) {
      require_thread();
    } else if (wants_thread) {
      check_scarcity();
    }
    at->replica = where.elsewhere()
                      ? system_.slot_provider_of(where).start_replica(service_, factory_, info,
                                                                      at->slot, ready)
                      : system_.start_replica(service_, factory_, info, at->slot, ready,
                                              service_->options.faults, own_thread);
  } catch (const std::exception& e) {
    return could_not_start(at, e.what());
  }
  watch(*at->replica);
  start_watch_->add(at->slot);
}

/// Called where the machine lacks what a replica needs, such as a thread. It counts as a death.
void supervisor::could_not_start(const place_ptr& at, const std::string& why) {
  service_->note_crash("it could not be started: " + why);
  log::warn("a replica can't be started",
            {{"service", service_->options.name}, {"replica", at->index}, {"reason", why}});
  at->slot->end();
  lost(at);
}

void supervisor::serves(const place_ptr& at, const std::shared_ptr<replica_slot>& slot) {
  // The replica may have died since, and its successor may be on the way.
  if (at->slot != slot || at->retired || slot->ended()) return;
  if (at->given != published_) return begin_to_give(at);
  can_serve(at);
}

/// Called for a replica that has everything that was published.
void supervisor::can_serve(const place_ptr& at) {
  ready_.push_back(at);
  // This runs after all messages in the mailbox, so many replicas that start together cost one
  // change of the table.
  if (!std::exchange(looks_at_ready_, true)) self()->post_last([this] { look_at_ready(); });
}

/// Publishes the ready replicas, or waits for more. A change copies the table, so if the table is
/// large and few replicas are ready, they wait for more; starting R replicas then copies O(R)
/// entries.
void supervisor::look_at_ready() {
  constexpr std::size_t entries_each = 64;
  looks_at_ready_ = false;
  const bool last_ones = serving_ + ready_.size() >= places_.size();
  if (last_ones || ready_.size() * entries_each >= serving_) return publish_ready();
  if (!std::exchange(publishes_later_, true)) start_root(publish_later());
}

child_task supervisor::publish_later() {
  constexpr auto pause_an_entry = std::chrono::nanoseconds(200);
  co_await sleep_for(pause_an_entry * serving_);
  publishes_later_ = false;
  publish_ready();
}

void supervisor::publish_ready() {
  std::vector<std::shared_ptr<replica_slot>> slots;
  for (const auto& p : std::exchange(ready_, {})) {
    if (p->slot->ended()) continue;
    if (p->given != published_) {
      begin_to_give(p);
      continue;
    }
    p->serves = true;
    ++serving_;
    p->late_starts = 0;
    start_watch_->remove(p->slot);
    slots.push_back(p->slot);
  }
  if (slots.empty()) return;
  has_served_ = true;
  service_->publish(std::move(slots));
  changed_.notify_all();
  const auto awaited = service_->options.min_ready;
  if (awaited == 0 ? all_serve() : serving_ >= awaited) report_started(nullptr);
}

void supervisor::starts_no_more(const place_ptr& at) {
  start_watch_->remove(at->slot);
  std::erase(ready_, at);
}

void supervisor::on_down(const inbox& who, const std::string&) {
  std::erase_if(given_up_, [&](const auto& other) { return other.get() == &who; });
  const auto is_its = [&](const auto& p) { return p->replica.get() == &who; };
  const auto left = std::find_if(retiring_.begin(), retiring_.end(), is_its);
  if (left != retiring_.end()) {
    service_->drained((*left)->slot);
    retiring_.erase(left);
    changed_.notify_all();
    return end_if_left();
  }
  const auto died = std::find_if(places_.begin(), places_.end(), is_its);
  if (died != places_.end()) lost(*died);
}

void supervisor::lost(const place_ptr& at) {
  service_->retract(at->slot);
  starts_no_more(at);
  at->giving = false;
  if (const auto* called = std::exchange(at->called, nullptr)) {
    log::warn(
        "a replica was lost while it was given what was published",
        {{"service", service_->options.name}, {"replica", at->index}, {"endpoint", called->name}});
  }
  const auto link = at->slot->lost_link.load(std::memory_order_relaxed);
  at->replica = nullptr;
  at->slot = nullptr;
  if (std::exchange(at->serves, false)) --serving_;
  if (service_->closed()) return end_if_left();
  look_at_publications();
  if (link == 0 && throws_again(at->index)) {
    return give_up(
        "constructors threw the same error " + std::to_string(same_throws_) +
        " times in a row before any replica served; the last replica died because: " + last_throw_);
  }
  start_root(restart(at, link));
}

/// Called for a replica that has died. Returns true if another try would be in vain: no replica has
/// served, at least three constructors in a row threw the same error, and this replica had been
/// restarted. Options with max_restarts say themselves how often to try.
bool supervisor::throws_again(std::size_t index) {
  constexpr std::size_t throws_max = 3;
  if (has_served_ || service_->options.max_restarts) return false;
  auto why = service_->last_crash();
  const bool threw = why.find(service_state::constructor_threw) != why.npos;
  same_throws_ = !threw ? 0 : why == last_throw_ ? same_throws_ + 1 : 1;
  last_throw_ = std::move(why);
  return same_throws_ >= throws_max && starts_[index] > 1;
}

// ---- restarts

child_task supervisor::restart(place_ptr at, std::uint64_t lost_link) {
  const auto& options = service_->options;
  auto& history = at->newcomer ? newcomers_ : restarts_;
  const auto time = now();
  history.forget_before(time - options.restart_window);
  auto pause = history.pause_of(lost_link);
  if (!pause && history.size() >= max_restarts()) {
    const auto why = "more than " + std::to_string(max_restarts()) + " restarts in " +
                     to_text(options.restart_window) +
                     "; the last replica died because: " + service_->last_crash();
    if (!at->newcomer) {
      give_up(why);
    } else {
      fail_growth(error_kind::replica_lost,
                  "replica " + std::to_string(at->index) + " could not be started: " + why);
    }
    co_return;
  }
  if (!pause) {
    pause = backoff(history.size());
    history.add(time, lost_link, *pause);
  }
  service_->restarts.fetch_add(1, std::memory_order_relaxed);
  co_await sleep_for(*pause);
  if (service_->closed() || at->retired) co_return;
  log::info("a replica is restarted", {{"service", options.name}, {"replica", at->index}});
  start_replica(at);
}

void supervisor::history::forget_before(time_point time) {
  while (!deaths.empty() && deaths.front() < time) deaths.pop_front();
  while (!links.empty() && links.front().at < time) links.pop_front();
}

std::optional<duration> supervisor::history::pause_of(std::uint64_t link) const {
  const auto same = std::find_if(links.begin(), links.end(),
                                 [&](const loss& other) { return other.link == link; });
  if (link == 0 || same == links.end()) return std::nullopt;
  return same->pause;
}

void supervisor::history::add(time_point time, std::uint64_t link, duration pause) {
  if (link == 0) {
    deaths.push_back(time);
  } else {
    links.push_back({time, link, pause});
  }
}

std::size_t supervisor::max_restarts() const {
  constexpr std::size_t at_least = 10;
  return service_->options.max_restarts.value_or(std::max(at_least, 2 * service_->desired.load()));
}

/// Returns the pause before a restart: none before the first one in the window, then doubling, with
/// a jitter of 25 % either way.
duration supervisor::backoff(std::size_t restarts_in_window) {
  if (restarts_in_window == 0) return duration(0);
  const auto& options = service_->options;
  const auto doublings = std::min<std::size_t>(restarts_in_window - 1, 20);
  const auto full = std::min<double>(
      static_cast<double>(options.backoff.count()) * static_cast<double>(1ULL << doublings),
      static_cast<double>(options.backoff_limit.count()));
  const double share = static_cast<double>(jitter_.next() >> 40) / static_cast<double>(1ULL << 24);
  return duration(static_cast<duration::rep>(full * (0.75 + 0.5 * share)));
}

void supervisor::give_up(const std::string& why) {
  log::error("a service is down", {{"service", service_->options.name}, {"reason", why}});
  service_->close(why);
  report_started(std::make_exception_ptr(
      call_error(error_kind::service_down, service_->options.name + ": " + why)));
  end();
}

void supervisor::report_started(std::exception_ptr error) {
  if (auto tell = std::exchange(started_, nullptr)) tell(std::move(error));
}

// ---- hung replicas

/// Ends the service if too many threads hang in this process. Returns true if it does.
bool supervisor::too_many_hang() {
  const auto hanging = system_.hanging_threads();
  if (service_->options.placement != placement::shared || hanging < spare_threads::threads_max) {
    return false;
  }
  give_up(std::to_string(hanging) +
          " threads of this process hang in replicas that were abandoned, and it may have no more; "
          "a replica in a process of its own (placement::process) can be killed");
  return true;
}

child_task supervisor::watch_for_hung() {
  const auto limit = service_->options.max_call_time;
  const auto period =
      std::clamp<duration>(limit / 4, std::chrono::milliseconds(1), std::chrono::seconds(1));
  for (;;) {
    co_await sleep_for(period);
    const auto is_hung = [&](const place_ptr& p) {
      const bool is_called = p->serves || p->giving;  // The time of its constructor does not count.
      const auto since = is_called ? p->slot->busy_since.load(std::memory_order_relaxed) : 0;
      return since != 0 && now() - time_point(duration(since)) > limit;
    };
    std::vector<place_ptr> hung;
    std::copy_if(places_.begin(), places_.end(), std::back_inserter(hung), is_hung);
    std::copy_if(retiring_.begin(), retiring_.end(), std::back_inserter(hung), is_hung);
    for (const auto& p : hung) {
      abandon(p);
      if (service_->closed()) co_return;
    }
  }
}

void supervisor::starts_seen(const start_watch::late_slots& late) {
  for (const auto& slot : late) {
    const auto found = std::find_if(places_.begin(), places_.end(),
                                    [&](const auto& p) { return p->slot == slot; });
    if (found == places_.end()) continue;  // The replica was removed meanwhile.
    start_is_late(place_ptr(*found));
    if (service_->closed()) return;
  }
  const auto limit = service_->options.start_timeout;
  if (!growing_since_) return;
  for (const auto& p : places_) {
    if (!p->replica || p->slot->starting_since != replica_slot::has_no_place) continue;
    // The replica waits for as long as something grows, but a restarted one began later.
    if (now() - std::max(*growing_since_, p->began) <= limit) continue;
    return fail_growth(error_kind::replica_lost, "replica " + std::to_string(p->index) +
                                                     " has found no place within " +
                                                     to_text(limit) + " (start_timeout)");
  }
}

/// Called for a replica that is abandoned already.
void supervisor::start_is_late(const place_ptr& at) {
  let_go(at);
  const auto& options = service_->options;
  const auto why = "replica " + std::to_string(at->index) + " did not serve within " +
                   to_text(options.start_timeout) + " (start_timeout)";
  service_->abandoned.fetch_add(1, std::memory_order_relaxed);
  service_->note_crash(why);
  log::error("a replica is abandoned because its start exceeded start_timeout",
             {{"service", options.name},
              {"replica", at->index},
              {"start_timeout", to_text(options.start_timeout)}});
  if (too_many_hang()) return;
  if (at->newcomer) {
    at->replica = nullptr;
    return fail_growth(error_kind::replica_lost, why);
  }
  const bool others_serve =
      std::any_of(places_.begin(), places_.end(), [](const auto& p) { return p->serves; });
  if (++at->late_starts > 1 && (started_ || !others_serve)) return give_up(why + ", twice");
  lost(at);
}

/// Abandons a replica whose thread may be stuck in the role's code, so that its actor can't end
/// now. Everybody who knew it goes on without it. Returns false if it ends by itself.
bool supervisor::go_on_without(const place_ptr& at) {
  if (!detail::abandon(system_, *service_, *at->slot)) return false;
  let_go(at);
  return true;
}

void supervisor::let_go(const place_ptr& at) {
  at->replica->kill("it was abandoned");
  given_up_.push_back(at->replica);
  caller::tell_all_lost(*service_, at->slot);
}

void supervisor::abandon(const place_ptr& at) {
  if (!go_on_without(at)) return;
  service_->abandoned.fetch_add(1, std::memory_order_relaxed);
  service_->note_crash("replica " + std::to_string(at->index) + " was busy for longer than " +
                       to_text(service_->options.max_call_time) + " (max_call_time)");
  log::error("a replica is abandoned because its endpoint exceeded max_call_time",
             {{"service", service_->options.name},
              {"replica", at->index},
              {"max_call_time", to_text(service_->options.max_call_time)}});
  if (too_many_hang()) return;
  if (!at->retired) return lost(at);
  service_->drained(at->slot);
  std::erase(retiring_, at);
  changed_.notify_all();
  end_if_left();
}

// ---- what every replica must have

void supervisor::distribute(std::shared_ptr<publication> request) {
  const auto replaced = find_kept(request->call->endpoint);
  if (replaced != kept_.end()) {
    request->before = std::move(replaced->what);
    kept_.erase(replaced);
  }
  publications_.push_back(request);
  keep_published(std::move(request));
  look_at_publications();
}

/// Gives it to every replica, after what is kept already.
void supervisor::keep_published(std::shared_ptr<publication> one) {
  const auto number = ++published_;
  if (one->number == 0) one->number = number;
  kept_.push_back({number, std::move(one)});
  for (const auto& p : places_) {
    if (p->serves) begin_to_give(p);
  }
}

void supervisor::begin_to_give(const place_ptr& at) {
  if (!std::exchange(at->giving, true)) start_root(give(at, at->slot));
}

/// Gives a replica what was published and it does not have. A replica that does not serve yet
/// begins to serve then.
child_task supervisor::give(place_ptr at, std::shared_ptr<replica_slot> slot) {
  constexpr auto pause = std::chrono::milliseconds(10);
  while (at->slot == slot && !slot->ended() && !at->retired) {
    const auto next = std::find_if(kept_.begin(), kept_.end(),
                                   [&](const auto& other) { return other.number > at->given; });
    if (next == kept_.end()) break;
    const auto one = *next;
    bool has_it = false;
    std::exception_ptr error;
    at->called = &one.what->call->endpoint;
    try {
      untyped_call pending(*service_, {.deadline = no_limit, .priority = priority::control},
                           one.what->call->again(), slot, false);
      co_await pending;
      has_it = true;
    } catch (const role_error&) {
      error = std::current_exception();
    } catch (const std::exception&) {  // If the replica is lost, the loop ends.
    }
    if (at->slot != slot) co_return;
    at->called = nullptr;
    if (!has_it && !error) {
      co_await sleep_for(pause);
      continue;
    }
    if (error && !survives(at, one, error)) co_return;
    at->given = one.number;
    look_at_publications();
  }
  if (at->slot != slot) co_return;
  at->giving = false;
  at->given = published_;  // What is not kept any more was replaced or has failed.
  look_at_publications();
  if (!at->serves && !at->retired && !slot->ended()) can_serve(at);
}

/// Called when the endpoint threw, which is an error of whoever publishes the value. A replica that
/// only starts is ended if the value was accepted before, because it can't serve without it; the
/// function then returns false.
bool supervisor::survives(const place_ptr& at, const kept_publication& one,
                          std::exception_ptr error) {
  if (std::find(publications_.begin(), publications_.end(), one.what) != publications_.end()) {
    fail(one.what, error);
    return true;
  }
  if (at->serves) {
    log::error("a replica threw when it was given again what was published",
               {{"service", service_->options.name},
                {"replica", at->index},
                {"endpoint", one.what->call->endpoint.name},
                {"error", describe(error)}});
    return true;
  }
  service_->note_crash("what was published last could not be given to it: " + describe(error));
  at->replica->kill("it can't have what was published");
  return false;
}

/// Called when an endpoint threw for a publication that is not answered. It is kept no longer, and
/// each replica is given what it has replaced, also where it was skipped or overwritten.
void supervisor::fail(const std::shared_ptr<publication>& one, std::exception_ptr error) {
  if (one->error) return;
  one->error = error;
  auto before = std::move(one->before);
  for (const auto& later : publications_) {
    if (later->before == one) later->before = before;
  }
  if (std::erase_if(kept_, [&](const auto& other) { return other.what == one; }) > 0 && before) {
    keep_published(std::move(before));
  }
  const auto now_kept = find_kept(one->call->endpoint);
  if (now_kept == kept_.end()) return;
  for (const auto& earlier : publications_) {
    const bool is_same = &earlier->call->endpoint == &one->call->endpoint;
    if (is_same && earlier->number <= one->number) earlier->number = now_kept->number;
  }
}

std::vector<supervisor::kept_publication>::iterator supervisor::find_kept(
    const endpoint_info& endpoint) {
  return std::find_if(kept_.begin(), kept_.end(),
                      [&](const auto& other) { return &other.what->call->endpoint == &endpoint; });
}

/// Answers the publications that each replica has that serves, or what replaced them.
void supervisor::look_at_publications() {
  const auto has = [](std::uint64_t number) {
    return [number](const place_ptr& p) { return !p->serves || p->given >= number; };
  };
  while (!publications_.empty()) {
    const auto first = publications_.front();
    if (!std::all_of(places_.begin(), places_.end(), has(first->number))) return;
    publications_.pop_front();
    first->before = nullptr;
    first->answer(first->error);
  }
}

// ---- scaling

child_task supervisor::autoscale() {
  const auto& options = service_->options;
  autoscaler deciding(options.autoscale);
  const auto growth = std::make_shared<bool>(true);  // False after the last growth has failed.
  for (;;) {
    co_await sleep_for(options.autoscale.metrics_interval);
    if (!std::exchange(*growth, true)) deciding.growth_failed(now());
    auto seen = look_at(*service_);
    seen.at = now();
    seen.replicas = places_.size();
    seen.at_rest = scalings_.empty() && all_serve();
    const auto wanted = deciding.decide(seen);
    if (!wanted) continue;
    const bool grows = *wanted > places_.size();
    (grows ? service_->upscales : service_->downscales).fetch_add(1, std::memory_order_relaxed);
    log::info("a service is scaled because of its queue wait",
              {{"service", options.name}, {"from", places_.size()}, {"to", *wanted}});
    scale(std::make_shared<scaling>(service_, *wanted, [growth](std::exception_ptr error) {
      if (!error) return;
      *growth = false;
      log::warn("a service could not be scaled", {{"error", describe(error)}});
    }));
  }
}

void supervisor::scale(std::shared_ptr<scaling> request) {
  const auto replicas = request->replicas;
  scalings_.push_back(std::move(request));
  if (scalings_.size() == 1) {
    start_root(scale_in_turn());
  } else if (growing_since_ && replicas < scalings_.front()->replicas) {
    fail_growth(error_kind::cancelled,
                "a later request for " + std::to_string(replicas) + " replicas ended it");
  }
}

void supervisor::fail_growth(error_kind kind, const std::string& why) {
  if (!failed_growth_) failed_growth_ = {kind, why};
  changed_.notify_all();
}

child_task supervisor::scale_in_turn() {
  while (!scalings_.empty()) {
    const auto request = scalings_.front();
    std::exception_ptr error;
    try {
      if (request->replicas < places_.size()) co_await shrink(request->replicas);
      co_await grow(request->replicas);  // This also waits for replicas that are being restarted.
    } catch (...) {
      error = std::current_exception();
    }
    scalings_.pop_front();
    request->answer(error);
  }
}

task<> supervisor::grow(std::size_t replicas) {
  const auto before = places_.size();
  if (before < replicas) {
    log::info("a service grows",
              {{"service", service_->options.name}, {"from", before}, {"to", replicas}});
  }
  newcomers_ = {};
  failed_growth_.reset();
  growing_since_ = now();
  service_->desired = replicas;
  while (places_.size() < replicas) {
    places_.push_back(std::make_shared<place>(places_.size()));
    places_.back()->newcomer = true;
    start_replica(places_.back());
  }
  while (!all_serve() && !failed_growth_) co_await changed_.wait();
  growing_since_.reset();
  for (const auto& p : places_) p->newcomer = false;
  if (!failed_growth_) co_return;
  co_await shrink(before);
  throw call_error(failed_growth_->kind, service_->options.name +
                                             ": scale: " + failed_growth_->why +
                                             "; it goes on with " + std::to_string(before));
}

task<> supervisor::shrink(std::size_t replicas) {
  const auto& options = service_->options;
  log::info("a service shrinks",
            {{"service", options.name}, {"from", places_.size()}, {"to", replicas}});
  service_->desired = replicas;
  while (places_.size() > replicas) {
    const auto last = places_.back();
    places_.pop_back();
    if (last->serves) --serving_;
    retire(last);
  }
  withdraw_retiring();
  try {
    co_await with_timeout(until_retired(), options.drain_timeout);
    co_return;
  } catch (const call_error&) {  // The time is up.
  }
  for (const auto& p : std::exchange(retiring_, {})) {
    log::warn("a replica is removed before it has finished",
              {{"service", options.name},
               {"replica", p->index},
               {"pending", p->slot->in_flight()},
               {"sessions", p->slot->sessions.load()}});
    if (go_on_without(p)) {
      service_->drained(p->slot);
    } else {
      retiring_.push_back(p);  // Its end will be reported.
    }
  }
}

void supervisor::retire(const place_ptr& at) {
  at->retired = true;
  if (!at->replica) return;  // Its restart is not due yet.
  if (!at->serves) {         // Nobody waits for its calls, and its start may hang.
    starts_no_more(at);
    detail::abandon(system_, *service_, *at->slot);
    return let_go(at);
  }
  retiring_.push_back(at);
}

/// Withdraws all of them in one change of the table.
void supervisor::withdraw_retiring() {
  std::vector<std::shared_ptr<replica_slot>> slots;
  for (const auto& p : retiring_) {
    if (!p->slot->leaving()) slots.push_back(p->slot);
  }
  service_->withdraw(slots);
  for (const auto& slot : slots) slot->drain();
}

task<> supervisor::until_retired() {
  while (!retiring_.empty()) co_await changed_.wait();
}

// ---- the end

void supervisor::leave_places(duration limit, std::function<void()> tell) {
  left_ = std::move(tell);
  start_watch_->close();
  start_root(end_after(limit));
  for (const auto* part : {&places_, &retiring_}) {
    for (const auto& p : *part) {
      if (p->replica) leave_place(*p->slot);
    }
  }
  end_if_left();
}

child_task supervisor::end_after(duration limit) {
  co_await sleep_for(limit);
  std::string late;
  for (const auto& p : places_) {
    if (p->replica) late += (late.empty() ? "" : ", ") + std::to_string(p->index);
  }
  log::warn("replicas of a service that was stopped do not end in time",
            {{"service", service_->options.name}, {"replicas", late}, {"limit", to_text(limit)}});
  end();
}

/// Ends the supervisor once the replicas have left their places.
void supervisor::end_if_left() {
  const auto is_there = [](const place_ptr& p) { return bool(p->replica); };
  if (!left_ || std::any_of(places_.begin(), places_.end(), is_there) || !retiring_.empty()) return;
  end();
}

void supervisor::ended() {
  service_->close("it was stopped");
  start_watch_->close();
  for (const auto* part : {&places_, &retiring_}) {
    for (const auto& p : *part) {
      if (p->replica) p->replica->kill("its service has ended");
    }
  }
  places_.clear();
  serving_ = 0;
  retiring_.clear();
  given_up_.clear();
  scalings_.clear();
  publications_.clear();
  kept_.clear();
  report_started(std::make_exception_ptr(
      call_error(error_kind::service_down, service_->options.name + ": it was stopped")));
  factory_.reset();
  if (const auto tell = std::exchange(left_, nullptr)) tell();
}

}  // namespace troupe::detail
