#include "tests/bench/trl_peer.hpp"
#include "tests/paths.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

namespace troupe {

trl_peer::trl_peer(const std::filesystem::path& model, const grpo_batch::shape& shape) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const std::string script = testing::source_path("tests/bench/grpo_trl.py"), folder = model;
  const auto groups = std::to_string(shape.groups), answers = std::to_string(shape.answers);
  const auto answer = std::to_string(shape.answer_tokens);
  const auto prompt = std::to_string(shape.prompt_tokens);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execl("/usr/bin/python3", "python3", script.c_str(), folder.c_str(), groups.c_str(),
            answers.c_str(), answer.c_str(), prompt.c_str(), nullptr);
    _exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::signal(SIGPIPE, SIG_IGN);
  to_ = ::fdopen(in[1], "w");
  from_ = ::fdopen(out[0], "r");
  const auto said = nlohmann::json::parse(read_line(), nullptr, false);
  if (said.is_object() && said.contains("peer")) {
    name_ = said["peer"];
  } else {
    missing_ =
        said.is_object() ? said.value("missing", "") : "grpo_trl.py ended before its first step";
  }
}

trl_peer::~trl_peer() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  std::fclose(to_);
  std::fclose(from_);
}

std::string trl_peer::read_line() {
  std::string line;
  for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
  return line;
}

trl_step trl_peer::step() {
  std::fputc('\n', to_);
  std::fflush(to_);
  const auto said = nlohmann::json::parse(read_line(), nullptr, false);
  if (!said.is_object()) throw std::runtime_error("grpo_trl.py ended in the middle of a step");
  return {.cpu_s = said.at("cpu_s"),
          .prompt_tokens = said.at("prompt_tokens"),
          .answer_tokens = said.at("answer_tokens"),
          .computed_tokens = said.at("computed_tokens")};
}

}  // namespace troupe
