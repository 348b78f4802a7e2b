#include "runtime/service/call/host.hpp"

#include <algorithm>
#include <limits>

#include "runtime/actor/actor_context.hpp"
#include "runtime/actor/simulated_threads.hpp"
#include "runtime/actor/thread_pool.hpp"
#include "runtime/actor/ticks.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/call/pending_call.hpp"

namespace troupe::detail {

namespace {

/// Set while this thread runs a host's turn. New work is then put on the queue of that worker.
thread_local caf::execution_unit* current_unit = nullptr;

/// The message that holds an envelope on its way and in a mailbox. If its actor ends before reading
/// it, CAF destroys it, on another thread than the one that wrote it.
class letter final : public caf::mailbox_element, public recycled {
 public:
  letter(caf::message_id id, envelope what)
      : mailbox_element(nullptr, id, {}), content_(std::move(what)) {}

  envelope& opened() noexcept { return content_; }

  void request_deletion(bool) const noexcept override {
    tsan_acquire(this);
    delete this;
  }

  // CAF would show this content to a behavior. A host's behavior reads none.
  caf::type_erased_tuple& content() override { return nothing_; }
  const caf::type_erased_tuple& content() const override { return nothing_; }
  caf::message move_content_to_message() override { return {}; }
  caf::message copy_content_to_message() const override { return {}; }

 private:
  envelope content_;
  caf::empty_type_erased_tuple nothing_;
};

/// Returns true if this thread runs a turn of that system. A thread of another system must not run
/// its actors, because that other system may end earlier.
bool runs_in(const caf::actor_system& system) {
  return current_unit && &current_unit->system() == &system;
}

class local_inbox final : public inbox {
 public:
  explicit local_inbox(caf::strong_actor_ptr actor) : actor(std::move(actor)) {}

  void request(ref<call_base> call, priority urgency) override {
    put({envelope::kind::request, std::move(call)}, urgency);
  }
  void reply(ref<call_base> call) override { put({envelope::kind::reply, std::move(call)}); }
  void post(std::function<void()> action) override { act(std::move(action), priority::control); }
  void post_last(std::function<void()> action) override { act(std::move(action)); }
  void ring() override { put({envelope::kind::ring}); }
  void kill(const char* reason) override {
    put({envelope::kind::kill, nullptr, nullptr, reason}, priority::control);
  }

  const caf::strong_actor_ptr actor;

 private:
  void act(std::function<void()> action, priority urgency = priority::normal) {
    put({envelope::kind::action, nullptr, new envelope::posted_action(std::move(action))}, urgency);
  }
  void put(envelope message, priority urgency = priority::normal) {
    const auto id = urgency == priority::control ? caf::make_message_id(caf::message_priority::high)
                                                 : caf::make_message_id();
    auto mail = caf::mailbox_element_ptr(new letter(id, std::move(message)));
    tsan_release(mail.get());
    actor->enqueue(std::move(mail), runs_in(*actor->home_system) ? current_unit : nullptr);
  }
};

}  // namespace

ref<inbox> make_local_inbox(caf::strong_actor_ptr actor) {
  return ref<inbox>(new local_inbox(std::move(actor)));
}

const caf::strong_actor_ptr& actor_of(const inbox& local) {
  return static_cast<const local_inbox&>(local).actor;
}

simulated_pool* pool_of(const inbox& local) {
  auto* const actor = caf::actor_cast<caf::abstract_actor*>(actor_of(local));
  return static_cast<const host&>(static_cast<caf::event_based_actor&>(*actor)).pool().get();
}

void stop_working(inbox& replica, ref<call_base> call) {
  replica.post(
      [call = std::move(call)] { static_cast<host&>(strand::current()).stop_working(*call); });
}

host::host(caf::actor_config& config, actor_context& system, std::string_view name, turns by)
    : strand_actor(config, system, name, by),
      system_(system),
      own_thread_(getf(is_detached_flag) ? system.own_threads() : nullptr),
      inbox_(make_local_inbox(caf::strong_actor_ptr{ctrl()})),
      caller_(*this, inbox_, [this](inbox& who) { watch(who); }, draws_for("routes").next()) {
  system_.host_started();
  if (own_thread_) own_thread_->add();
}

host::~host() {
  // The counter may outlive the system, so it is not a member of the system.
  if (own_thread_) own_thread_->remove();
}

host* host::current_or_null() noexcept {
  return current_unit ? static_cast<host*>(strand::current_or_null()) : nullptr;
}

void host::note_progress(duration allowance) noexcept {
  if (busy_since_) busy_since_->store(ticks_of(later(now(), allowance)), std::memory_order_relaxed);
}

time_point host::now() const { return system_.clock().now(); }

bool host::deterministic() const noexcept { return system_.deterministic(); }

std::stop_token host::system_ends() const { return system_.end_request().get_token(); }

/// Runs one message's handler and then every coroutine that became ready. No exception gets out.
template <class F>
void host::turn_with(F handle) {
  current_unit = context();
  turn_fresh_ = std::exchange(turn_timed_, false);
  note_progress();
  if (turns_seen_) turns_seen_->begin();
  try {
    turn mine(*this);
    slice = 0;
    handle();
    if (run()) turn_timed_ = false;
    destroy_all(finished_roots_);
  } catch (...) {
    log::error("a turn of an actor threw an exception",
               {{"error", describe(std::current_exception())}});
    end();
  }
  rearm();
  if (busy_since_) busy_since_->store(0, std::memory_order_relaxed);
  if (turns_seen_) turns_seen_->end();
  current_unit = nullptr;
  tsan_release(this);
}

reserved_host::reserved_host(caf::actor_config& config, actor_context& system,
                             std::string_view name, turns by)
    : host(config, system, name, by) {
  if (!is_reserved()) return;
  if (auto* pool = dynamic_cast<thread_pool*>(&home_system().scheduler())) {
    urgent_from_turn_ = &pool->data().urgent_from_turn;
    urgent_from_outside_ = &pool->data().urgent_from_outside;
  }
}

void reserved_host::enqueue(caf::mailbox_element_ptr mail, caf::execution_unit* unit) {
  if (urgent_from_turn_) unit = runs_in(home_system()) ? urgent_from_turn_ : urgent_from_outside_;
  caf::event_based_actor::enqueue(std::move(mail), unit);
}

caf::behavior host::make_behavior() {
  tsan_acquire(this);
  set_down_handler([this](caf::down_msg& down) {
    const auto place = watched_.lower_bound(down.source);
    if (place == watched_.end() || place->first != down.source) return;
    const auto who = std::move(place->second);
    watched_.erase(place);
    turn_with([&] {
      caller_.ended(*who);
      on_down(*who, to_string(down.reason));
    });
  });
  caf::behavior unused{[](int) {}};  // CAF requires a behavior; `consume` reads the messages.
  turn_with([this] { starting(); });
  return unused;
}

caf::resumable::resume_result host::resume(caf::execution_unit* unit, std::size_t max_messages) {
  tsan_acquire(this);
  turn_timed_ = false;  // The actor may have waited for long since its last turn.
  tsan_release(this);
  // What is left would wait for the pool as an ordinary job.
  if (is_reserved() && !deterministic()) max_messages = std::numeric_limits<std::size_t>::max();
  return caf::event_based_actor::resume(unit, max_messages);
}

time_point host::turn_began() {
  if (!turn_fresh_) turn_time_ = now();
  turn_fresh_ = true;
  return turn_time_;
}

caf::invoke_message_result host::consume(caf::mailbox_element& message) {
  tsan_acquire(this);
  tsan_acquire(&message);
  if (typeid(message) != typeid(letter)) return caf::event_based_actor::consume(message);
  current_mailbox_element(&message);
  turn_with([&] { open(static_cast<letter&>(message).opened()); });
  return caf::invoke_message_result::consumed;
}

void host::open(envelope& message) {
  switch (message.what) {
    case envelope::kind::request:
      return on_request(std::move(message.call));
    case envelope::kind::reply:
      if (auto* by = message.call->pending) by->owner.replied(*by);
      return;
    case envelope::kind::action:
      return message.action->f();
    case envelope::kind::ring:
      return alarm_rang();
    case envelope::kind::kill:
      log::debug("an actor is told to end", {{"reason", message.reason}});
      return end();
  }
}

void host::alarm_rang() {
  const auto time = now();
  while (!alarms_.empty() && alarms_.back().first <= time) alarms_.pop_back();
  wake_sleepers(time);
  caller_.tick(time);
}

void host::rearm() {
  const auto next = std::min(next_sleeper(), caller_.next_tick());
  const bool rings_before = !alarms_.empty() && alarms_.back().first <= next;
  if (next == time_point::max() || rings_before) return;
  alarms_.push_back(system_.clock().wake_at(next, inbox_));
}

void host::end() {
  stop();
  quit(caf::exit_reason::user_shutdown);
}

/// Called when a thread of the pool is done with this turn.
void host::intrusive_ptr_release_impl() {
  tsan_release(static_cast<caf::resumable*>(this));
  caf::event_based_actor::intrusive_ptr_release_impl();
}

/// CAF calls this before it destroys an actor, on whichever thread dropped the last handle.
void host::on_destroy() {
  tsan_acquire(this);
  tsan_acquire(static_cast<caf::resumable*>(this));
  caf::event_based_actor::on_destroy();
}

void host::on_exit() {
  tsan_acquire(this);
  {
    turn mine(*this);
    before_end();
    destroy_all(finished_roots_);
    // This destroys every frame of this actor, roots first. None of them is on the stack.
    destroy_all(roots_);
    ended();
  }
  // Members that refer to other actors are cleared now, because CAF keeps the object until its last
  // handle is dropped.
  caller_.forget();
  for (const auto& [actor, where] : watched_) demonitor(actor);
  watched_.clear();
  if (!alarms_.empty()) system_.clock().forget(alarms_);
  inbox_ = nullptr;
  tsan_release(this);
  system_.host_ended();
}

void host::on_request(ref<call_base>) {}
void host::on_down(const inbox&, const std::string&) {}
void host::root_finished(std::exception_ptr error) {
  if (error) log::error("a coroutine ended with an error", {{"error", describe(error)}});
}

child_task& host::start_root(child_task work) {
  auto& made = *new root(std::move(work));
  roots_.push_back(made);
  made.start(*this, *this);
  return made;
}

void host::cancel_root(const child_task& work) { delete &static_cast<const root&>(work); }

void host::destroy_all(list<root>& roots) {
  while (!roots.empty()) delete &roots.front();
}

void host::finished(child_task& child, std::exception_ptr error) {
  finished_roots_.push_back(static_cast<root&>(child));  // The coroutine is still on the stack.
  root_finished(std::move(error));
}

void host::watch(inbox& who) {
  const auto& actor = actor_of(who);
  const auto address = caf::actor_cast<caf::actor_addr>(actor);
  const auto [first, last] = watched_.equal_range(address);
  if (std::any_of(first, last, [&](const auto& w) { return w.second.get() == &who; })) return;
  watched_.emplace(address, &who);
  monitor(caf::actor_cast<caf::actor>(actor));
}

}  // namespace troupe::detail
