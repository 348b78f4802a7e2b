#include "runtime/cluster/link_server.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/cluster/build_id.hpp"
#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/refusals.hpp"
#include "runtime/cluster/stream_listener.hpp"
#include "runtime/cluster/ticker.hpp"

namespace troupe::detail {

namespace {

std::optional<credentials> own_credentials(const link_server_options& options) {
  if (options.certs.empty()) return {};
  auto loaded = load_credentials(options.certs, "controller");
  if (options.metrics) show_expiry(loaded, *options.metrics);
  return loaded;
}

}  // namespace

/// The nodes that have joined.
class link_server::core final : public stream_owner, public std::enable_shared_from_this<core> {
 public:
  core(const link_server_options& options, joined_handler on_joined)
      : credentials_(own_credentials(options)),
        revoked_every_(options.revoked_every),
        on_joined_(std::move(on_joined)),
        own_{.build = options.build.empty() ? build_id() : options.build,
             .self = incarnation::random(),
             .name = options.name,
             .role = "controller"},
        refusals_(options.metrics) {
    check_peer_name(options.name);
  }

  const std::optional<credentials>& own_certificate() const { return credentials_; }
  hello own_hello() override { return own_; }

  std::optional<join_refusal> find_refusal(const hello& theirs,
                                           const std::string& certificate) override {
    if (theirs.protocol != own_.protocol)
      return join_refusal{"protocol", disagreement(own_, theirs)};
    if (theirs.build != own_.build) return join_refusal{"build", disagreement(own_, theirs)};
    if (theirs.role != "node") {
      return join_refusal{"role", "expected a node, got a " + theirs.role};
    }
    std::shared_ptr<framed_link> replaced;
    {
      const std::lock_guard held(mutex_);
      if (stopping_) return join_refusal{"stopping", "the controller is stopping"};
      auto& place = members_[theirs.name];
      // The same process comes again, so its old link is broken although this was not noticed here.
      const bool again = place.self == theirs.self;
      const bool live = place.reserved && (!place.way || !place.way->has_ended());
      if (live && !again) {
        return join_refusal{"name_in_use", "a node named " + theirs.name + " is there already"};
      }
      replaced = std::exchange(place.way, nullptr);
      place = {theirs.self, true, nullptr, certificate};
    }
    abandon(replaced);
    return {};
  }

  void joined(const hello& theirs, std::shared_ptr<framed_link> way) override {
    way->when_gone([self = weak_from_this(), theirs, of = std::weak_ptr(way)] {
      if (const auto here = self.lock()) here->forget(theirs, of.lock());
    });
    bool stopping;
    std::shared_ptr<framed_link> replaced;
    {
      const std::lock_guard held(mutex_);
      stopping = stopping_;
      if (auto& place = members_[theirs.name]; place.self == theirs.self) {
        replaced = std::exchange(place.way, way);
      }
    }
    abandon(replaced);
    if (stopping) return way->close("the controller is stopping");
    on_joined_(theirs, way);
  }

  void left(const hello& theirs) override { forget(theirs, nullptr); }

  void failed(const join_refusal& why) override { refusals_.add(why); }

  void tick(std::chrono::steady_clock::time_point now) {
    for (const auto& member : linked()) member.way->tick(now);
    if (!credentials_ || now < look_for_revoked_at_) return;
    look_for_revoked_at_ = now + revoked_every_;
    end_revoked();
  }

  /// Admits no further node, and closes every link.
  void stop() {
    {
      const std::lock_guard held(mutex_);
      stopping_ = true;
    }
    for (const auto& member : linked()) member.way->close("the controller is stopping");
    std::unique_lock held(mutex_);
    emptied_.wait_for(held, link_farewell, [this] { return members_.empty(); });
  }

 private:
  struct member {
    incarnation self;
    bool reserved = false;
    std::shared_ptr<framed_link> way;  ///< Null until the hellos have been exchanged.
    std::string certificate;           ///< The certificate in PEM; empty in plain text.
  };

  /// Ends a link whose name has another one, if there is one. Nobody would tick it any more, and
  /// its other side may never end it.
  static void abandon(const std::shared_ptr<framed_link>& replaced) {
    if (replaced) replaced->abandon("a new connection of the same name has replaced it");
  }

  /// Returns the members that have a link.
  std::vector<member> linked() const {
    const std::lock_guard held(mutex_);
    std::vector<member> found;
    for (const auto& [name, member] : members_) {
      if (member.way) found.push_back(member);
    }
    return found;
  }

  void end_revoked() {
    try {
      for (const auto& member : linked()) {
        const auto no = revocation(member.certificate, *credentials_);
        if (!no || member.way->has_ended()) continue;
        refusals_.add(*no);
        member.way->close(no->text);
      }
    } catch (const std::runtime_error& e) {
      // A file that is being copied may be incomplete. Nobody can join meanwhile.
      log::error("the revoked certificates can't be read, so links stay", {{"reason", e.what()}});
    }
  }

  /// Forgets the member if this link is still the one of its name.
  void forget(const hello& who, const std::shared_ptr<framed_link>& way) {
    const std::lock_guard held(mutex_);
    const auto found = members_.find(who.name);
    if (found == members_.end() || found->second.self != who.self || found->second.way != way) {
      return;
    }
    members_.erase(found);
    if (members_.empty()) emptied_.notify_all();
  }

  const std::optional<credentials> credentials_;  ///< None means plain text.
  const std::chrono::milliseconds revoked_every_;
  const link_server::joined_handler on_joined_;
  const hello own_;
  refusals refusals_;
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::map<std::string, member> members_;  ///< Keyed by name.
  bool stopping_ = false;
  // Used by the ticker's thread only.
  std::chrono::steady_clock::time_point look_for_revoked_at_{};
};

struct link_server::parts {
  parts(const std::shared_ptr<core>& shared, const link_server_options& options)
      : listener({.address = options.address,
                  .own = shared->own_certificate(),
                  .secret_file = options.join_secret,
                  .link = options.link,
                  .hello_within = options.hello_within},
                 shared) {
    pulse.start([shared](auto now) {
      shared->tick(now);
      return now + link_tick;
    });
  }

  stream_listener listener;
  ticker pulse;  // The ticker ends first.
};

link_server::link_server(link_server_options options, joined_handler on_joined)
    : core_(std::make_shared<core>(options, std::move(on_joined))),
      parts_(std::make_unique<parts>(core_, options)) {}

link_server::~link_server() { core_->stop(); }

std::uint16_t link_server::port() const { return parts_->listener.port(); }

}  // namespace troupe::detail
