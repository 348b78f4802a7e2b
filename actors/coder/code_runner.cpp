#include "actors/coder/code_runner.hpp"

#include <optional>

#include "actors/coder/coder.hpp"
#include "actors/coder/recorded_runs.hpp"
#include "actors/recorder/recording_file.hpp"
#include "actors/sandbox/sandboxed.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

/// One of these runs programs.
struct code_runner::ways {
  std::optional<recorded_runs> recorded;
  std::optional<coder> unsandboxed;
  std::optional<sandboxed_python> sandboxed;
  std::shared_ptr<recording_file> record;
};

code_runner::code_runner(code_runner_options options, metrics_registry* metrics)
    : ways_(std::make_unique<ways>()) {
  ways_->record = std::move(options.record);
  auto& s = options.sandbox;
  if (!options.replay.empty()) {
    ways_->recorded.emplace(options.replay);
  } else if (options.allow_unsandboxed) {
    ways_->unsandboxed.emplace(coder_options{.allow_unsandboxed = true,
                                             .limits = s.limits,
                                             .python = s.python,
                                             .first_user = s.first_user,
                                             .last_user = s.last_user},
                               metrics);
  } else {
    ways_->sandboxed.emplace(std::move(s), metrics);
  }
}

code_runner::~code_runner() = default;

task<code_result> code_runner::run(code_request asked) {
  if (ways_->recorded) co_return ways_->recorded->next(asked);
  if (ways_->unsandboxed) co_return ways_->unsandboxed->run(std::move(asked));
  if (!ways_->record) co_return co_await ways_->sandboxed->run(std::move(asked));
  const auto kept = asked;
  auto result = co_await ways_->sandboxed->run(std::move(asked));
  try {
    ways_->record->append(line_of(kept, result));
  } catch (const std::exception& e) {
    log::warn("a run is lost for its recording", {{"error", e.what()}});
  }
  co_return result;
}

}  // namespace troupe
