#include "runtime/remote/remote_metrics.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <future>

#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

namespace {

using families = std::vector<prometheus::MetricFamily>;

/// Reads a process's answer and adds the label that names the process. Returns nothing if the
/// answer can't be read.
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
    for (auto& metric : family.metric) {
      const bool has_it =
          std::ranges::find(metric.label, whose.name, &prometheus::ClientMetric::Label::name) !=
          metric.label.end();
      if (!has_it) metric.label.push_back(whose);
    }
  }
  return all;
}

/// The last answer of a process that has ended, kept as metrics.
class last_answer final : public prometheus::Collectable {
 public:
  explicit last_answer(families what) : what_(std::move(what)) {}
  families Collect() const override { return what_; }

 private:
  const families what_;
};

}  // namespace

void remote_metrics::add(const std::shared_ptr<connection>& to,
                         prometheus::ClientMetric::Label whose, std::string process) {
  source before;
  {
    std::lock_guard lock(mutex_);
    const auto known = absent_.find(whose.value);
    if (known != absent_.end()) {
      before = std::move(known->second);
      absent_.erase(known);
    }
    std::shared_ptr<const message> last;
    if (!process.empty() && before.process == process) last = std::move(before.last);
    // The loss of its earlier link may not be known yet.
    for (auto& [other, about] : sources_) {
      if (process.empty() || about.process != process) continue;
      about.process.clear();
      last = std::move(about.last);
    }
    sources_[to.get()] = {to, std::move(whose), std::move(process), std::move(last)};
  }
  retire(before);
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
    auto& last = place->second.last;
    if (!last || last->header.id < id) last = std::move(answer);
  }
  for (const auto& done : strike(from, id)) done();
}

void remote_metrics::remove(const connection& to) {
  source gone;
  {
    std::lock_guard lock(mutex_);
    const auto place = sources_.find(&to);
    if (place == sources_.end()) return;
    gone = std::move(place->second);
    sources_.erase(place);
  }
  gone.to->on_measured(nullptr);
  gone.to = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!gone.process.empty() && absent_.size() < absent_max) {
      const auto value = gone.whose.value;
      std::swap(absent_[value], gone);  // A process of the same label may have gone before.
    }
  }
  retire(gone);
  for (const auto& done : strike(to, std::nullopt)) done();
}

/// Gives the last counts of a process to `home_`.
void remote_metrics::retire(const source& gone) {
  if (!gone.last) return;
  home_.retire(std::make_shared<last_answer>(read(*gone.last, gone.whose)), gone.whose.name);
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
  for (const auto& [value, gone] : absent) retire(gone);
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

families remote_metrics::Collect() const {
  std::vector<source> all;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [to, about] : sources_) all.push_back(about);
    for (const auto& [value, about] : absent_) all.push_back(about);
  }
  families told;
  for (const auto& about : all) {
    if (!about.last) continue;
    auto of_one = read(*about.last, about.whose);
    if (!about.to) {
      std::erase_if(of_one, [](const auto& f) { return f.type == prometheus::MetricType::Gauge; });
    }
    std::ranges::move(of_one, std::back_inserter(told));
  }
  return told;
}

}  // namespace troupe::detail
