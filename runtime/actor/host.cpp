#include "runtime/actor/host.hpp"

#include <algorithm>

#include "runtime/log.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

namespace {

/// Set while this thread runs a host's turn: new work is then put on that worker's queue.
thread_local caf::execution_unit* current_unit = nullptr;

class local_inbox final : public inbox {
 public:
  explicit local_inbox(caf::strong_actor_ptr actor) : actor(std::move(actor)) {}

  void request(ref<call_base> call, priority urgency) override {
    put(request_message{std::move(call)}, urgency);
  }
  void reply(ref<call_base> call) override { put(reply_message{std::move(call)}); }
  void post(std::function<void()> action) override {
    put(action_message{std::make_shared<std::function<void()>>(std::move(action))},
        priority::control);
  }
  void post_last(std::function<void()> action) override {
    put(action_message{std::make_shared<std::function<void()>>(std::move(action))});
  }
  void ring() override { put(ring_message{}); }
  void kill(const char* reason) override { put(kill_message{reason}, priority::control); }

  const caf::strong_actor_ptr actor;

 private:
  template <class Message>
  void put(Message message, priority urgency = priority::normal) {
    const auto id = urgency == priority::control ? caf::make_message_id(caf::message_priority::high)
                                                 : caf::make_message_id();
    actor->enqueue(caf::make_mailbox_element(nullptr, id, {}, std::move(message)), current_unit);
  }
};

}  // namespace

ref<inbox> make_local_inbox(caf::strong_actor_ptr actor) {
  return ref<inbox>(new local_inbox(std::move(actor)));
}

const caf::strong_actor_ptr& actor_of(const inbox& local) {
  return static_cast<const local_inbox&>(local).actor;
}

host::host(caf::actor_config& config, system_core& system)
    : caf::event_based_actor(config),
      system_(system),
      inbox_(make_local_inbox(caf::strong_actor_ptr{ctrl()})),
      caller_(*this, inbox_, [this](inbox& who) { watch(who); }, system.next_seed()) {
  system_.host_started();
}

host::~host() = default;

time_point host::now() const { return system_.clock().now(); }

/// Runs one message's handler and then every coroutine that became ready. No exception gets out.
template <class F>
void host::turn_with(F handle) {
  current_unit = context();
  try {
    turn mine(*this);
    handle();
    run();
    if (std::exchange(roots_finished_, false)) {
      roots_.remove_if([](const branch& b) { return b.done(); });
    }
  } catch (...) {
    log::error("an actor's turn threw", {{"error", describe(std::current_exception())}});
    end();
  }
  rearm();
  current_unit = nullptr;
}

caf::behavior host::make_behavior() {
  set_down_handler([this](caf::down_msg& down) {
    const auto place = std::find_if(watched_.begin(), watched_.end(),
                                    [&](const auto& w) { return w.first == down.source; });
    if (place == watched_.end()) return;
    auto* who = place->second;
    watched_.erase(place);
    turn_with([&] {
      caller_.ended(*who);
      on_down(*who, to_string(down.reason));
    });
  });
  turn_with([this] { starting(); });
  return {
      [this](request_message& m) { turn_with([&] { on_request(std::move(m.call)); }); },
      [this](reply_message& m) {
        turn_with([&] {
          if (auto* waiting = m.call->pending) waiting->replied();
        });
      },
      [this](action_message& m) { turn_with([&] { (*m.action)(); }); },
      [this](ring_message) {
        turn_with([&] {
          alarm_ = time_point::max();
          const auto time = now();
          wake_sleepers(time);
          caller_.tick(time);
        });
      },
      [this](kill_message m) {
        log::debug("an actor is told to end", {{"reason", m.reason}});
        end();
      },
  };
}

void host::rearm() {
  const auto next = std::min(next_sleeper(), caller_.next_tick());
  if (next >= alarm_) return;
  alarm_ = next;
  system_.clock().wake_at(next, inbox_);
}

void host::end() { quit(caf::exit_reason::user_shutdown); }

void host::on_exit() {
  {
    turn mine(*this);
    roots_.clear();  // Every frame of this actor, root first; none is on the stack.
    ended();
  }
  // What refers to other actors goes now: CAF keeps the object until its last handle is dropped.
  caller_.forget();
  watched_.clear();
  system_.host_ended();
  inbox_ = nullptr;
}

void host::on_request(ref<call_base>) {}
void host::on_down(const inbox&, const std::string&) {}
void host::root_finished(std::exception_ptr error) {
  if (error) log::error("a coroutine ended with an error", {{"error", describe(error)}});
}

void host::start_root(branch work) {
  roots_.push_back(std::move(work));
  roots_.back().start(*this, *this);
}

void host::finished(branch&, std::exception_ptr error) {
  roots_finished_ = true;  // It is still on the stack; it goes at the end of the turn.
  root_finished(std::move(error));
}

void host::watch(inbox& who) {
  const auto& actor = actor_of(who);
  watched_.emplace_back(caf::actor_cast<caf::actor_addr>(actor), &who);
  monitor(caf::actor_cast<caf::actor>(actor));
}

}  // namespace troupe::detail
