#include "actors/torch.hpp"

#include "algorithms/run/run_state.hpp"

#include <nlohmann/json.hpp>

#include "actors/checkpoint/sha256.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

const std::string& file_of(const checkpoint& from, const std::string& name) {
  const auto place = from.files.find(name);
  if (place == from.files.end()) throw state_error("checkpoint: " + name + " is missing");
  return place->second;
}

std::vector<std::string> list_of(const checkpoint& from, const std::string& name) {
  return state_reader(file_of(from, name)).get<std::vector<std::string>>("replicas");
}

std::string list_bytes(const std::vector<std::string>& replicas) {
  state_writer to;
  to.put("replicas", replicas);
  return to.bytes();
}

run_progress progress_of(const checkpoint& from, const training_settings& settings) {
  const state_reader state(file_of(from, "run.cbor"));
  run_progress done{.version = state.get<std::int64_t>("version"),
                    .steps = state.get<std::int64_t>("steps"),
                    .episodes = state.get<std::int64_t>("episodes"),
                    .failed = state.get<std::int64_t>("failed"),
                    .scores = {},
                    .stopped = state.get<bool>("stopped"),
                    .wall = state.get<double>("wall"),
                    .overlapped = state.get<double>("overlapped")};
  // None of these is in those of older versions.
  if (state.has("start")) state.get("start", done.start);
  if (state.has("evaluated")) state.get("evaluated", done.evaluated);
  if (state.has("owed")) state.get("owed", done.owed);
  if (state.has("at_goal")) state.get("at_goal", done.at_goal);
  done.scores.restore(state.get<std::string>("scores"));
  done.at_goal = done.at_goal && reaches_goal(done.scores, settings.evaluation);
  return done;
}

std::string sha256_of_config(const training_settings& settings) {
  auto document = nlohmann::json::parse(settings.config, nullptr, false);
  if (!document.is_object()) return sha256(settings.config);
  document.erase("total_steps");
  const auto evaluation = document.find("evaluation");
  if (evaluation != document.end() && evaluation->is_object()) evaluation->erase("stop_at");
  return sha256(document.dump());
}

weights weights_of(const checkpoint& from) {
  const state_reader state(file_of(from, "weights.cbor"));
  auto values = state.get<std::vector<float>>("parameters");
  const auto n = static_cast<std::int64_t>(values.size());
  return {state.get<std::int64_t>("version"),
          at::from_blob(values.data(), {n}, at::kFloat).clone(),
          {}};
}

namespace {

std::string progress_bytes(const run_progress& done) {
  state_writer to;
  to.put("version", done.version);
  to.put("steps", done.steps);
  to.put("episodes", done.episodes);
  to.put("failed", done.failed);
  to.put("scores", done.scores.save());
  to.put("evaluated", done.evaluated);
  to.put("owed", done.owed);
  to.put("stopped", done.stopped);
  to.put("at_goal", done.at_goal);
  to.put("start", done.start);
  to.put("wall", done.wall);
  to.put("overlapped", done.overlapped);
  return to.bytes();
}

std::string weights_bytes(const weights& of) {
  const auto* first = of.parameters.data_ptr<float>();
  state_writer to;
  to.put("version", of.version);
  to.put("parameters", std::vector<float>(first, first + of.parameters.numel()));
  return to.bytes();
}

}  // namespace

void begin_from(training_run& run, const checkpoint& from) {
  run.done = progress_of(from, run.settings);
  if (run.callbacks.restore) run.callbacks.restore(file_of(from, "callbacks"));
}

task<checkpoint> begin_checkpoint(training_run& run) {
  checkpoint state{.kind = kind_of(run.settings),
                   .step = run.done.steps,
                   .config_sha256 = sha256_of_config(run.settings),
                   .files = {}};
  state.files["run.cbor"] = progress_bytes(run.done);
  if (run.callbacks.save) state.files["callbacks"] = run.callbacks.save();
  const auto newest = co_await run.newest();
  state.files["weights.cbor"] = weights_bytes(newest);
  state.files["recorder.cbor"] = co_await run.records.route<&recorder::save>();
  co_return state;
}

}  // namespace troupe
