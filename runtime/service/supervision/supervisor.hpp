#pragma once
// Keeps one service's replicas alive: one for one, the first restart at once, later ones after a
// backoff, and none once the restart intensity is exceeded. Adds and removes replicas, and gives up
// those that hang, at a call or at their start. Internal to runtime/.

#include <deque>
#include <optional>

#include "runtime/coroutine/condition.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/service/supervision/start_watch.hpp"

namespace troupe::detail {

/// Somebody's wish for another number of replicas. It is answered once: at the latest when it is
/// dropped, because the service has ended.
class scaling {
 public:
  /// `tell` is called on any actor, with null or with what went wrong.
  scaling(std::shared_ptr<const service_state> service, std::size_t replicas,
          std::function<void(std::exception_ptr)> tell);
  scaling(const scaling&) = delete;
  ~scaling();
  void answer(std::exception_ptr error);

  const std::size_t replicas;

 private:
  std::shared_ptr<const service_state> service_;
  std::function<void(std::exception_ptr)> tell_;
};

class supervisor final : public host {
 public:
  /// `started` is called in the supervisor once every replica serves, with null, or with why it
  /// can't be.
  supervisor(caf::actor_config& config, replica_context& system,
             std::shared_ptr<service_state> service, std::shared_ptr<const role_factory> factory,
             std::function<void(std::exception_ptr)> started);

  /// In a turn of its own. One scaling after the other, but a growth ends where a wish for fewer
  /// comes.
  void scale(std::shared_ptr<scaling> wish);

 private:
  /// Where one replica after another lives. Once retired it gets no successor.
  struct place {
    explicit place(std::size_t index) : index(index) {}
    const std::size_t index;
    ref<inbox> replica;                  ///< Null between a death and the restart.
    std::shared_ptr<replica_slot> slot;  ///< The replica's.
    time_point began{};                  ///< When the replica was made.
    bool serves = false;                 ///< Or drains.
    std::size_t late_starts = 0;         ///< Since one served here.
    bool newcomer = false;               ///< Of a growth that is under way.
    bool retired = false;
  };
  using place_ptr = std::shared_ptr<place>;
  /// A link that was lost with all the replicas behind it.
  struct loss {
    time_point at;
    std::uint64_t link;
    duration pause;  ///< Before the restarts.
  };
  /// What made replicas be restarted, in the window.
  struct history {
    std::deque<time_point> deaths;
    std::deque<loss> links;
    std::size_t size() const { return deaths.size() + links.size(); }
    void forget_before(time_point time);
    /// Of a loss that is known; of a death, none.
    std::optional<duration> pause_of(std::uint64_t link) const;
    void add(time_point time, std::uint64_t link, duration pause);
  };
  struct failure {
    error_kind kind;
    std::string why;
  };

  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;

  void start_replica(const place_ptr& at);
  void serves(const place_ptr& at, const std::shared_ptr<replica_slot>& slot);
  void look_at_ready();
  branch publish_later();
  void publish_ready();
  void starts_no_more(const place_ptr& at);
  void lost(const place_ptr& at);
  branch restart(place_ptr at, std::uint64_t lost_link);
  std::size_t max_restarts() const;
  duration backoff(std::size_t restarts_in_window);
  void give_up(const std::string& why);
  void report_started(std::exception_ptr error);

  branch autoscale();
  branch scale_in_turn();
  task<> grow(std::size_t replicas);
  task<> shrink(std::size_t replicas);
  void retire(const place_ptr& at);
  void withdraw_retiring();
  task<> until_retired();
  bool all_serve() const { return serving_ == places_.size(); }

  branch watch_for_hung();
  void starts_seen(const start_watch::late_slots& late);
  void start_is_late(const place_ptr& at);
  void fail_growth(error_kind kind, const std::string& why);
  void abandon(const place_ptr& at);
  bool go_on_without(const place_ptr& at);
  void let_go(const place_ptr& at);

  replica_context& system_;
  std::shared_ptr<service_state> service_;
  std::shared_ptr<const role_factory> factory_;
  std::function<void(std::exception_ptr)> started_;
  std::vector<place_ptr> places_;     ///< By index.
  std::size_t serving_ = 0;           ///< Of these.
  std::vector<place_ptr> ready_;      ///< They can serve, and are published together.
  bool looks_at_ready_ = false;       ///< `look_at_ready` is on its way.
  bool publishes_later_ = false;      ///< `publish_later` runs.
  std::vector<place_ptr> retiring_;   ///< Their replicas have not ended.
  std::vector<ref<inbox>> given_up_;  ///< Abandoned replicas whose end is not heard yet.
  std::vector<std::size_t> starts_;   ///< By index, also of places that are gone.
  history restarts_;
  history newcomers_;  ///< Of a growth that is under way.
  std::deque<std::shared_ptr<scaling>> scalings_;
  std::optional<time_point> growing_since_;  ///< None while nothing grows.
  std::optional<failure> failed_growth_;
  std::shared_ptr<start_watch> start_watch_;
  condition changed_;  ///< A replica serves, or one has ended.
  draws jitter_;
};

}  // namespace troupe::detail
