#include "runtime/remote/remote_metrics.hpp"

#include <prometheus/metric_family.h>

#include <future>

#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

namespace {

using families = std::vector<prometheus::MetricFamily>;

/// The label that only a controller gives.
constexpr const char* node_label = "node";

/// Labels a sample with the process that it is of. What the process says of that itself is removed,
/// because it could name another one. A node names its own child processes.
void set_process(std::vector<prometheus::ClientMetric::Label>& labels,
                 const prometheus::ClientMetric::Label& whose) {
  std::erase_if(labels, [&](const auto& label) {
    return label.name == whose.name || label.name == node_label;
  });
  labels.push_back(whose);
}

/// Reads a process's answer and labels it with the process. Returns nothing if the answer can't be
/// read.
families read(const message& answer, const prometheus::ClientMetric::Label& whose) {
  families all;
  try {
    auto body = answer.body();
    all = body.read<families>();
  } catch (const wire_error& e) {
    log::warn("a process sent metrics that can't be read",
              {{whose.name, whose.value}, {"error", e.what()}});
  }
  for (auto& family : all) {
    for (auto& metric : family.metric) set_process(metric.label, whose);
  }
  return all;
}

}  // namespace

/// What one process has counted, as its last answer says. It stays the same over the links of a
/// process that comes back.
class process_counts final : public prometheus::Collectable {
 public:
  explicit process_counts(prometheus::ClientMetric::Label whose) : whose_(std::move(whose)) {}

  const prometheus::ClientMetric::Label& whose() const { return whose_; }
  /// Takes an answer, unless it has a later one.
  void heard(std::shared_ptr<const message> answer) {
    std::lock_guard lock(mutex_);
    if (!last_ || last_->header.id < answer->header.id) last_ = std::move(answer);
  }
  /// Says whether the process has a link. Without one, its gauges are not shown.
  void set_linked(bool is_linked) {
    std::lock_guard lock(mutex_);
    is_linked_ = is_linked;
  }

  families Collect() const override {
    std::shared_ptr<const message> last;
    bool with_gauges = false;
    {
      std::lock_guard lock(mutex_);
      last = last_;
      with_gauges = is_linked_;
    }
    if (!last) return {};
    auto all = read(*last, whose_);
    if (!with_gauges) {
      std::erase_if(all, [](const auto& f) { return f.type == prometheus::MetricType::Gauge; });
    }
    return all;
  }

 private:
  const prometheus::ClientMetric::Label whose_;
  mutable std::mutex mutex_;
  std::shared_ptr<const message> last_;  ///< Null until the process has answered.
  bool is_linked_ = true;
};

void remote_metrics::add(const std::shared_ptr<connection>& to,
                         prometheus::ClientMetric::Label whose, std::string process) {
  auto counts = std::make_shared<process_counts>(std::move(whose));
  home_.watch(counts);  // Before it hears anything that a scrape could miss.
  std::vector<std::shared_ptr<process_counts>> unused;
  {
    std::lock_guard lock(mutex_);
    const auto take = [&](source& from) {
      if (!process.empty() && from.process == process) {
        counts.swap(from.counts);
        counts->set_linked(true);
        from.process.clear();
      }
      unused.push_back(std::exchange(from.counts, nullptr));
    };
    auto known = absent_.extract(counts->whose().value);
    if (known) take(known.mapped());
    // The loss of its earlier link may not be known yet.
    for (auto& [other, about] : sources_) {
      if (!process.empty() && about.process == process) take(about);
    }
    sources_[to.get()] = {to, std::move(process), std::move(counts)};
  }
  for (const auto& each : unused) retire(each);
  to->on_measured([me = weak_from_this(), from = to.get()](std::shared_ptr<const message> answer) {
    if (const auto known = me.lock()) known->heard(*from, std::move(answer));
  });
}

void remote_metrics::heard(const connection& from, std::shared_ptr<const message> answer) {
  const auto id = answer->header.id;
  {
    std::lock_guard lock(mutex_);
    const auto place = sources_.find(&from);
    if (place == sources_.end() || answer->body().left() > answer_max) return;
    if (place->second.counts) place->second.counts->heard(std::move(answer));
  }
  for (const auto& done : strike(from, id)) done();
}

void remote_metrics::remove(const connection& to) {
  std::shared_ptr<connection> link;
  std::shared_ptr<process_counts> ended;
  {
    std::lock_guard lock(mutex_);
    const auto place = sources_.extract(&to);
    if (!place) return;
    auto& gone = place.mapped();
    link = std::move(gone.to);
    if (gone.counts) gone.counts->set_linked(false);
    if (gone.counts && !gone.process.empty() && absent_.size() < absent_max) {
      const auto value = gone.counts->whose().value;
      std::swap(absent_[value], gone);  // A process of the same label may have gone before.
    }
    ended = std::move(gone.counts);
  }
  link->on_measured(nullptr);
  retire(ended);
  for (const auto& done : strike(to, std::nullopt)) done();
}

/// Has the last counts of a process kept. It may hear nothing more, and may be null.
void remote_metrics::retire(const std::shared_ptr<process_counts>& gone) {
  if (gone) home_.retire(gone, gone->whose().name);
}

void remote_metrics::remove_all() {
  for (;;) {
    std::shared_ptr<connection> one;
    {
      std::lock_guard lock(mutex_);
      if (sources_.empty()) break;
      one = sources_.begin()->second.to;
    }
    remove(*one);
  }
  std::map<std::string, source> absent;
  {
    std::lock_guard lock(mutex_);
    absent.swap(absent_);
  }
  for (const auto& [value, gone] : absent) retire(gone.counts);
}

remote_metrics::callbacks remote_metrics::strike(const connection& from,
                                                 std::optional<std::uint64_t> id) {
  callbacks done;
  std::lock_guard lock(mutex_);
  for (auto place = rounds_.begin(); place != rounds_.end();) {
    auto& [number, round] = *place;
    if (!id || *id == number) round.awaited.erase(&from);
    if (!round.awaited.empty()) {
      ++place;
      continue;
    }
    done.push_back(std::move(round.done));
    place = rounds_.erase(place);
  }
  return done;
}

void remote_metrics::ask(std::function<void()> done) const {
  std::vector<std::shared_ptr<connection>> all;
  std::uint64_t id = 0;
  std::function<void()> given_up;
  {
    std::lock_guard lock(mutex_);
    if (!sources_.empty()) {
      if (rounds_.size() == rounds_max) {
        given_up = std::move(rounds_.begin()->second.done);
        rounds_.erase(rounds_.begin());
      }
      id = ++last_round_;
      auto& round = rounds_[id];
      round.done = std::exchange(done, nullptr);
      for (const auto& [to, about] : sources_) {
        all.push_back(about.to);
        round.awaited.insert(to);
      }
    }
  }
  if (done) done();
  if (given_up) given_up();
  for (const auto& to : all) to->send({.kind = message_kind::measure, .control = 1, .id = id});
}

void remote_metrics::fetch() const {
  const auto answered = std::make_shared<std::promise<void>>();
  ask([answered] { answered->set_value(); });
  answered->get_future().wait_for(patience);
}

families remote_metrics::Collect() const { return {}; }

}  // namespace troupe::detail
