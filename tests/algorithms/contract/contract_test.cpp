// What every built-in algorithm promises, on short deterministic runs (subjects.cpp).

#include "actors/torch/torch.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/train.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/contract/subjects.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;
namespace fs = std::filesystem;

options every(int updates) { return {"checkpoint.every_updates=" + std::to_string(updates)}; }

/// What a run has come to.
struct outcome_of_run {
  run_summary summary;
  /// The columns of progress.csv by name, except for those of time.
  std::map<std::string, std::string> columns;
};

std::map<std::string, std::string> columns_of(const fs::path& run) {
  std::ifstream csv(run / "progress.csv");
  std::vector<std::string> names;
  std::map<std::string, std::string> columns;
  for (std::string line; std::getline(csv, line);) {
    std::stringstream cells(line);
    const bool heading = names.empty();
    std::size_t i = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++i) {
      if (heading) {
        names.push_back(cell);
      } else if (!names.at(i).starts_with("time/") || names[i] == "time/total_timesteps") {
        columns[names[i]] += cell + '\n';
      }
    }
  }
  return columns;
}

checkpoint_directory checkpoints_in(const fs::path& run) {
  return checkpoint_directory(run / "checkpoints", 100);
}

/// Runs in a folder of their own.
class stage {
 public:
  stage() : subjects_(make_subjects(folder_.path)) { log::set_level("off"); }
  ~stage() { log::set_level("info"); }

  const std::vector<subject>& subjects() const { return subjects_; }

  outcome_of_run run(const subject& one, const options& more) {
    return finish(algorithm_of_subject(one, more), {.root = next_folder()}, std::nullopt);
  }
  /// Goes on from the run's checkpoint of that step, as after a kill: what the run did later lies
  /// in its folder.
  outcome_of_run killed_after(const outcome_of_run& whole, std::int64_t step, const subject& one,
                              const options& more) {
    return finish(algorithm_of_subject(one, more), {.directory = copy_of(whole)},
                  checkpoints_in(whole.summary.run_directory).load(step));
  }
  /// The state of all roles after they were restored from a checkpoint of the run.
  checkpoint restored(const outcome_of_run& whole, const checkpoint& from, const subject& one,
                      const options& more) {
    const auto what = algorithm_of_subject(one, more);
    const auto version = static_cast<std::uint64_t>(progress_of(from, what.settings).version);
    system sys(
        {.deterministic = true, .seed = derived_seed(what.settings.seed, "system", {version})});
    training_run run(sys, what, {.directory = copy_of(whole)}, {});
    return sys.run(save_restored(run, from));
  }

 private:
  static task<checkpoint> save_restored(training_run& run, const checkpoint& from) {
    co_await run.serve_roles(&from);
    auto state = co_await run.save();
    co_return state;
  }
  std::string copy_of(const outcome_of_run& run) {
    auto copy = next_folder();
    fs::copy(run.summary.run_directory, copy, fs::copy_options::recursive);
    return copy;
  }
  std::string next_folder() { return (folder_.path / ("run" + std::to_string(++runs_))).string(); }
  static outcome_of_run finish(const algorithm& what, run_output output,
                               std::optional<checkpoint> from) {
    const auto result = train(what, std::move(output), {}, std::move(from));
    REQUIRE(result.summary);
    return {*result.summary, columns_of(result.run_directory)};
  }

  temporary_folder folder_;
  const std::vector<subject> subjects_;
  int runs_ = 0;
};

/// The model file of a policy; "" for a language model, whose model is a folder.
std::string last_model_of(const outcome_of_run& run) {
  const auto path = run_directory::open(run.summary.run_directory).last_model();
  return fs::is_regular_file(path) ? read_text(path) : "";
}

void check_equal(const outcome_of_run& one, const outcome_of_run& other) {
  CHECK(one.summary.weights_sha256 == other.summary.weights_sha256);
  CHECK(one.summary.steps == other.summary.steps);
  CHECK(one.summary.eval_mean == other.summary.eval_mean);
  CHECK(one.summary.staleness_mean == other.summary.staleness_mean);
  CHECK(one.columns == other.columns);
  const bool equal_models = last_model_of(one) == last_model_of(other);
  CHECK(equal_models);
}

/// Killed after its middle checkpoint and resumed, a run comes to what the whole comes to.
void check_killed(stage& on, const outcome_of_run& whole, const subject& one, const options& more) {
  auto steps = checkpoints_in(whole.summary.run_directory).steps();
  REQUIRE(steps.size() >= 3);
  const auto step = steps[steps.size() / 2];
  INFO("killed after step " << step);
  check_equal(on.killed_after(whole, step, one, more), whole);
}

/// Roles that are restored have the state that was saved.
void check_restored(stage& on, const outcome_of_run& whole, const subject& one,
                    const options& more) {
  const auto saved = checkpoints_in(whole.summary.run_directory);
  const auto steps = saved.steps();
  REQUIRE(!steps.empty());
  const auto state = saved.load(steps[steps.size() / 2]);
  const auto again = on.restored(whole, state, one, more);
  INFO("restored at step " << state.step);
  CHECK(again.step == state.step);
  CHECK(again.files.size() == state.files.size());
  for (const auto& [name, content] : state.files) {
    if (name == "environments.bin" && !one.restores_environments) continue;
    INFO(name);
    REQUIRE(again.files.contains(name));
    // That of the recorder has the time; what it records are the columns.
    const bool equal = name == "recorder.bin" || again.files.at(name) == content;
    CHECK(equal);
  }
}

options with_mode(const subject& one, const std::string& mode) {
  return one.has_async ? options{"mode=" + mode} : options{};
}

TEST_CASE("contract: every algorithm is a subject") {
  const temporary_folder folder;
  std::set<std::string> tested, known;
  for (const auto& one : make_subjects(folder.path)) tested.insert(one.algo);
  for (const auto& one : known_algorithms()) known.insert(one.name);
  CHECK(tested == known);
}

TEST_CASE("contract: a seed decides the weights, wherever checkpoints are and the run is killed") {
  stage on;
  for (const auto& one : on.subjects()) {
    INFO(one.name);
    const auto mode = with_mode(one, "sync");
    const auto whole = on.run(one, mode + every(0));
    for (const int updates : {2, 3, 5}) {
      INFO("checkpoints every " << updates << " updates");
      const auto some = on.run(one, mode + every(updates));
      if (one.ignores_checkpoints) check_equal(some, whole);
      if (updates > 2) continue;
      check_killed(on, some, one, mode + every(updates));
      check_restored(on, some, one, mode + every(updates));
    }
    const auto other = on.run(one, mode + every(0) + options{"seed=7"});
    CHECK(other.summary.weights_sha256 != whole.summary.weights_sha256);
    CHECK(whole.summary.staleness_max == 0);
  }
}

TEST_CASE("contract: an asynchronous run is the same each time, and when it is killed") {
  stage on;
  for (const auto& one : on.subjects()) {
    if (!one.has_async) continue;
    INFO(one.name);
    const auto more = with_mode(one, "async") + every(2);
    const auto whole = on.run(one, more);
    check_equal(on.run(one, more), whole);
    check_killed(on, whole, one, more);
    check_restored(on, whole, one, more);
    const auto other = on.run(one, more + options{"seed=7"});
    CHECK(other.summary.weights_sha256 != whole.summary.weights_sha256);
    const auto config = nlohmann::json::parse(algorithm_of_subject(one, more).settings.config);
    const auto& section = config.contains("rollout") ? config["rollout"] : config.at("collection");
    CHECK(whole.summary.staleness_max <= section.at("max_staleness"));
    CHECK(whole.summary.staleness_max > 0);
  }
}

TEST_CASE("contract: an option that does not exist is refused by its name") {
  const temporary_folder folder;
  for (const auto& one : make_subjects(folder.path)) {
    for (const std::string name : {"rate", "trainer.rate", "evaluation.rate", "rollout.rate"}) {
      INFO(one.name << ", " << name);
      CHECK_THROWS_WITH(algorithm_of_subject(one, {name + "=1"}),
                        Catch::Contains("rate") || Catch::Contains("rollout"));
    }
  }
}

}  // namespace
}  // namespace troupe
