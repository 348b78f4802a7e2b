#include "actors/torch/torch.hpp"

#include "algorithms/run/run_state.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "actors/checkpoint/sha256.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

const std::string& file_of(const checkpoint& from, const std::string& name) {
  const auto place = from.files.find(name);
  if (place == from.files.end()) throw state_error("checkpoint: " + name + " is missing");
  return place->second;
}

replica_states environment_states(const checkpoint& from, std::size_t replicas) {
  auto saved = state_in<replica_states>(from, "environments.bin");
  if (saved.size() > replicas) {
    throw state_error(
        fmt::format("checkpoint: expected at most {} replicas of environments, got {}", replicas,
                    saved.size()));
  }
  return saved;
}

run_progress progress_of(const checkpoint& from, const run_settings& settings) {
  auto progress = state_in<run_progress>(from, "run.bin");
  progress.at_goal = progress.at_goal && reaches_goal(progress.scores, settings.evaluation);
  return progress;
}

std::string sha256_of_config(const run_settings& settings) {
  auto document = nlohmann::json::parse(settings.config, nullptr, false);
  if (!document.is_object()) return sha256(settings.config);
  document.erase("total_steps");
  document.erase("schedule_steps");
  const auto evaluation = document.find("evaluation");
  if (evaluation != document.end() && evaluation->is_object()) evaluation->erase("stop_at");
  return sha256(document.dump());
}

weights weights_of(const checkpoint& from) {
  auto saved = state_in<weights>(from, "weights.bin");
  if (saved.parameters.dim() != 1 || saved.parameters.scalar_type() != at::kFloat) {
    throw state_error("checkpoint: weights.bin: expected a row of floats");
  }
  return {saved.version, std::move(saved.parameters), {}};
}

void begin_from(training_run& run, const checkpoint& from) {
  run.progress = progress_of(from, run.settings);
  if (from.files.contains("control.bin")) {
    run.control.restore(state_in<run_control::state>(from, "control.bin"));
  }
  if (run.callbacks.restore) run.callbacks.restore(file_of(from, "callbacks"));
}

task<checkpoint> begin_checkpoint(training_run& run) {
  checkpoint state{.kind = kind_of(run.settings),
                   .step = run.progress.steps,
                   .config_sha256 = sha256_of_config(run.settings),
                   .files = {}};
  state.files["run.bin"] = state_bytes(run.progress);
  if (!run.control.kept().empty()) state.files["control.bin"] = state_bytes(run.control.kept());
  if (run.callbacks.save) state.files["callbacks"] = run.callbacks.save();
  const auto newest = co_await run.newest();
  state.files["weights.bin"] = state_bytes(newest);
  state.files["recorder.bin"] = co_await run.records.route<&recorder::save>();
  co_return state;
}

}  // namespace troupe
