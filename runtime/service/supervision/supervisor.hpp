#pragma once
// The supervisor keeps one service's replicas alive. It restarts each replica on its own: the first
// restart comes at once, later ones after a backoff, and none once there are more than max_restarts
// in the window. It also adds and removes replicas, and abandons those that hang at a call or at
// their start. Internal to runtime/.

#include <deque>
#include <optional>

#include "runtime/coroutine/condition.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/service/call/publication.hpp"
#include "runtime/service/supervision/start_watch.hpp"

namespace troupe::detail {

/// A request to change the number of replicas.
class scaling : public supervisor_request {
 public:
  scaling(std::shared_ptr<const service_state> service, std::size_t replicas,
          std::function<void(std::exception_ptr)> tell)
      : supervisor_request(std::move(service), "scale", std::move(tell)), replicas(replicas) {}
  const std::size_t replicas;
};

class supervisor final : public host {
 public:
  /// `started` is called in the supervisor once as many replicas serve as min_ready says, with
  /// null, or with why they can't.
  supervisor(caf::actor_config& config, replica_context& system,
             std::shared_ptr<service_state> service, std::shared_ptr<const role_factory> factory,
             std::function<void(std::exception_ptr)> started);

  /// Changes the number of replicas. Called in a turn of its own. Changes run one after another,
  /// but a growth is ended by a later request for fewer replicas.
  void scale(std::shared_ptr<scaling> request);
  /// Makes the call at each replica that serves, and at each later one before it serves. Of each
  /// endpoint only the last call is kept. Called in a turn of its own.
  void distribute(std::shared_ptr<publication> request);
  /// Ends the service, whose replicas' places stay for successors. `tell` is called when they have
  /// ended, at the latest after `limit`; then places are not kept. Called in a turn of its own.
  void leave_places(duration limit, std::function<void()> tell);

 private:
  /// The place of one index, where one replica after another lives. A retired place gets no
  /// successor.
  struct place {
    explicit place(std::size_t index) : index(index) {}
    const std::size_t index;
    ref<inbox> replica;                  ///< Null between a death and the restart.
    std::shared_ptr<replica_slot> slot;  ///< The slot of the replica.
    time_point began{};                  ///< The time when the replica was made.
    bool serves = false;                 ///< True while the replica serves or drains.
    std::uint64_t given = 0;             ///< The last publication that the replica has.
    bool giving = false;                 ///< True while `give` runs for the replica.
    /// The endpoint that `give` calls now; null between calls.
    const endpoint_info* called = nullptr;
    std::size_t late_starts = 0;  ///< The late starts since a replica has served here.
    bool newcomer = false;        ///< True if it belongs to a growth that is under way.
    bool retired = false;
  };
  using place_ptr = std::shared_ptr<place>;
  /// The loss of a link with all the replicas behind it.
  struct loss {
    time_point at;
    std::uint64_t link;
    duration pause;  ///< The pause before the restarts.
  };
  /// The causes of restarts in the window.
  struct history {
    std::deque<time_point> deaths;
    std::deque<loss> links;
    std::size_t size() const { return deaths.size() + links.size(); }
    void forget_before(time_point time);
    /// Returns the pause of a link that is known as lost; none for another link or a single death.
    std::optional<duration> pause_of(std::uint64_t link) const;
    void add(time_point time, std::uint64_t link, duration pause);
  };
  /// A publication that each replica must have.
  struct kept_publication {
    std::uint64_t number;  ///< Replicas get them in the order of these numbers.
    std::shared_ptr<publication> what;
  };
  struct failure {
    error_kind kind;
    std::string why;
  };

  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;

  void start_replica(const place_ptr& at);
  void could_not_start(const place_ptr& at, const std::string& why);
  void serves(const place_ptr& at, const std::shared_ptr<replica_slot>& slot);
  void can_serve(const place_ptr& at);
  void look_at_ready();
  child_task publish_later();
  void publish_ready();
  void starts_no_more(const place_ptr& at);
  void lost(const place_ptr& at);
  bool throws_again(std::size_t index);
  child_task restart(place_ptr at, std::uint64_t lost_link);
  std::size_t max_restarts() const;
  duration backoff(std::size_t restarts_in_window);
  void give_up(const std::string& why);
  void report_started(std::exception_ptr error);

  child_task give(place_ptr at, std::shared_ptr<replica_slot> slot);
  void begin_to_give(const place_ptr& at);
  bool survives(const place_ptr& at, const kept_publication& one, std::exception_ptr error);
  void fail(const std::shared_ptr<publication>& one, std::exception_ptr error);
  void keep_published(std::shared_ptr<publication> one);
  std::vector<kept_publication>::iterator find_kept(const endpoint_info& endpoint);
  void look_at_publications();

  child_task autoscale();
  child_task scale_in_turn();
  task<> grow(std::size_t replicas);
  task<> shrink(std::size_t replicas);
  void retire(const place_ptr& at);
  void withdraw_retiring();
  task<> until_retired();
  bool all_serve() const { return serving_ == places_.size(); }

  child_task watch_for_hung();
  bool too_many_hang();
  void starts_seen(const start_watch::late_slots& late);
  void start_is_late(const place_ptr& at);
  void fail_growth(error_kind kind, const std::string& why);
  void abandon(const place_ptr& at);
  bool go_on_without(const place_ptr& at);
  void let_go(const place_ptr& at);
  child_task end_after(duration limit);
  void end_if_left();

  replica_context& system_;
  std::shared_ptr<service_state> service_;
  std::shared_ptr<const role_factory> factory_;
  std::function<void(std::exception_ptr)> started_;
  std::function<void()> left_;     ///< Called at the end; null unless `leave_places` was called.
  std::vector<place_ptr> places_;  ///< The places by index.
  std::size_t serving_ = 0;        ///< The number of places whose replica serves.
  /// The places whose replicas can serve and are published together.
  std::vector<place_ptr> ready_;
  bool looks_at_ready_ = false;       ///< True while `look_at_ready` is on its way.
  bool publishes_later_ = false;      ///< True while `publish_later` runs.
  std::vector<place_ptr> retiring_;   ///< The removed places whose replicas have not ended.
  std::vector<ref<inbox>> given_up_;  ///< The abandoned replicas whose end is not known yet.
  std::vector<std::size_t> starts_;   ///< The starts at each index, also of places that are gone.
  bool has_served_ = false;           ///< True once any replica has served.
  std::string last_throw_;            ///< Why the last replica died before any served.
  std::size_t same_throws_ = 0;       ///< The constructors in a row that threw that.
  history restarts_;
  history newcomers_;  ///< The restarts in a growth that is under way.
  std::deque<std::shared_ptr<scaling>> scalings_;
  /// The last publication of each endpoint, in the order in which they came.
  std::vector<kept_publication> kept_;
  std::uint64_t published_ = 0;                            ///< The last number in `kept_`.
  std::deque<std::shared_ptr<publication>> publications_;  ///< Those that are not answered.
  std::optional<time_point> growing_since_;                ///< None while nothing grows.
  std::optional<failure> failed_growth_;
  std::shared_ptr<start_watch> start_watch_;
  condition changed_;  ///< Notified when a replica serves or has ended.
  draws jitter_;
};

}  // namespace troupe::detail
