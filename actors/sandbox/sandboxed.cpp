#include "actors/sandbox/sandboxed.hpp"

#include <stdexcept>

#include "actors/sandbox/python_runners.hpp"
#include "actors/sandbox/sandbox_service.hpp"

namespace troupe {

sandboxed_python::sandboxed_python(sandbox_options options, metrics_registry* metrics) {
  auto command = python_command(options.python, one_program);
  service_ = std::make_unique<sandbox_service>(std::move(options), std::move(command), metrics);
}

sandboxed_python::~sandboxed_python() = default;

task<code_result> sandboxed_python::run(code_request asked) {
  check_program(asked.program);
  co_return co_await service_->run({}, {std::move(asked.program), std::move(asked.input),
                                        std::move(asked.files), std::move(asked.results)});
}

sandboxed_command::sandboxed_command(sandbox_options options, metrics_registry* metrics)
    : service_(std::make_unique<sandbox_service>(std::move(options), std::vector<std::string>(),
                                                 metrics)) {}

sandboxed_command::~sandboxed_command() = default;

task<code_result> sandboxed_command::run(command_request asked) {
  if (asked.command.empty() || asked.command.front().empty())
    throw std::invalid_argument("sandbox: expected a command, got none");
  co_return co_await service_->run(
      std::move(asked.command),
      {"", std::move(asked.input), std::move(asked.files), std::move(asked.results)});
}

}  // namespace troupe
