#include "actors/python/python_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "runtime/base/installed.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/large_json.hpp"
#include "runtime/process/program.hpp"
#include "runtime/service/stop_token.hpp"

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::size_t message_bytes_max = std::size_t{64} << 20;
constexpr std::size_t header_bytes = 5;  // the kind, and the bytes that follow
constexpr char step_kind = 'S', stepped_kind = 'R', json_kind = 'J';

std::filesystem::path interpreter_of(const python_options& options) {
  if (!options.interpreter.empty()) {
    auto found = detail::find_program(options.interpreter);
    if (!found.empty()) return found;
    const auto inside = std::filesystem::path(options.interpreter) / "bin/python3";
    std::error_code ignored;
    throw python_error("python: expected a Python interpreter, got \"" + options.interpreter +
                       "\", which is no program that can be executed" +
                       (std::filesystem::exists(inside, ignored)
                            ? "; did you mean " + inside.string() + "?"
                            : ""));
  }
  if (const char* active = std::getenv("VIRTUAL_ENV"); active && *active) {
    auto found = detail::find_program(std::string(active) + "/bin/python3");
    if (!found.empty()) return found;
    throw python_error("VIRTUAL_ENV: expected a virtual environment, got \"" + std::string(active) +
                       "\", which has no bin/python3");
  }
  auto found = detail::find_program("python3");
  if (!found.empty()) return found;
  throw python_error("python: expected python3 on PATH, got none; install Python 3.9 or later");
}

/// The value of PYTHONPATH: the worker's code, the working directory and what it was before.
std::string search_path() {
  const auto code = detail::find_installed("share/troupe/python");
  if (code.empty())
    throw python_error(
        "the Python code share/troupe/python was not found beside this program or beside the "
        "troupe command: expected an installation of Troupe whose folder bin is on PATH, or whose "
        "folder is $TROUPE_PREFIX");
  std::string path = code.string() + ":" + std::filesystem::current_path().string();
  if (const char* before = std::getenv("PYTHONPATH"); before && *before)
    path += std::string(":") + before;
  return path;
}

/// The variables of a worker beside those of this process. A fixed seed of the hashes gives the
/// elements of a set the same order in each process, so that what an environment numbers in that
/// order has the same numbers for all of them.
std::vector<std::string> environment_variables() {
  std::vector<std::string> all{"PYTHONPATH=" + search_path(), "OMP_NUM_THREADS=1",
                               "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
  if (std::getenv("PYTHONHASHSEED") == nullptr) all.emplace_back("PYTHONHASHSEED=0");
  return all;
}

/// Logs the output of a process, at most lines_max lines a second. What processes print while they
/// import modules and make environments, such as the banners of packages, is logged once.
class output_log {
 public:
  /// `imports`: true while the process imports modules and makes environments.
  output_log(std::string name, std::shared_ptr<const std::atomic<bool>> imports)
      : name_(std::move(name)), imports_(std::move(imports)) {}

  void operator()(const std::string& line) {
    if (*imports_ && !log::is_new("a Python process printed\n" + line)) return;
    constexpr int lines_max = 50;
    const auto now = clock::now();
    if (now - second_ >= std::chrono::seconds(1)) {
      if (left_out_ > 0)
        log::info("output of a Python process was left out",
                  {{"worker", name_}, {"lines", left_out_}});
      second_ = now;
      lines_ = left_out_ = 0;
    }
    if (++lines_ > lines_max) {
      ++left_out_;
    } else {
      log::info("a Python process printed", {{"worker", name_}, {"text", line}});
    }
  }

 private:
  std::string name_;
  std::shared_ptr<const std::atomic<bool>> imports_;
  clock::time_point second_ = clock::now();
  int lines_ = 0, left_out_ = 0;
};

/// Memory that is shared with the process. It can't be made smaller, not even by that process.
class shared_pages {
 public:
  shared_pages()
      : file_(memfd_create("troupe-python", MFD_CLOEXEC | MFD_ALLOW_SEALING),
              "make shared memory") {}
  ~shared_pages() {
    if (!pages_.empty()) munmap(pages_.data(), pages_.size());
  }
  shared_pages(const shared_pages&) = delete;

  const detail::descriptor& file() const { return file_; }

  std::span<std::byte> map(std::size_t bytes) {
    if (!pages_.empty() && pages_.size() == bytes) {
      std::ranges::fill(pages_, std::byte());
      return pages_;
    }
    const auto fail = [](const char* action) {
      throw std::system_error(errno, std::generic_category(), action);
    };
    if (ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0) fail("cannot size memory");
    if (fcntl(file_.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
      fail("cannot seal memory");
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
    if (at == MAP_FAILED) fail("cannot map shared memory");
    return pages_ = {static_cast<std::byte*>(at), bytes};
  }

 private:
  detail::descriptor file_;
  std::span<std::byte> pages_;
};

/// What a process does, and how long it may do so.
struct activity {
  std::string_view name;
  const call_limit& limit;
  clock::time_point since;

  clock::time_point until() const {
    return since +
           std::chrono::round<clock::duration>(std::chrono::duration<double>(limit.seconds));
  }
};

/// Says what a process does from now on, until it has answered a message.
class activities {
 public:
  /// `gives_up`: true for a process that gives up what it does by give_up_signal.
  activities(std::string_view name, const call_limit& limit, bool gives_up = false)
      : name_(name), step_(limit), reset_(limit), gives_up_(gives_up) {}
  explicit activities(const step_limits& limits)
      : name_("a step"), step_(limits.step), reset_(limits.reset), mark_(&limits.mark) {
    std::atomic_ref(*mark_).store(0, std::memory_order_relaxed);
  }

  activity present() const {
    if (!mark_) return {name_, step_, begun_};
    const auto mark = std::atomic_ref(*mark_).load(std::memory_order_relaxed);
    const bool resets = mark < 0;
    const clock::time_point noted{std::chrono::nanoseconds(resets ? ~mark : mark)};
    return {resets ? "a reset" : name_, resets ? reset_ : step_,
            std::clamp(noted, begun_, clock::now())};
  }
  /// True if the process may still give up what has taken so long too long.
  bool may_give_up(clock::duration over) const {
    return gives_up_ && over < std::chrono::duration<double>(python_worker::give_up_seconds);
  }
  /// The longest time for which one may wait without looking at what the process does, since
  /// nothing tells that something else has begun.
  std::chrono::milliseconds look_after() const {
    const std::chrono::duration<double> shorter(std::min({step_.seconds, reset_.seconds, 60.0}));
    return std::chrono::ceil<std::chrono::milliseconds>(shorter);
  }

 private:
  std::string_view name_;
  call_limit step_, reset_;
  bool gives_up_ = false;
  std::int64_t* mark_ = nullptr;
  clock::time_point begun_ = clock::now();
};

}  // namespace

struct python_worker::state {
  state(const python_options& options, std::string name, std::shared_ptr<shared_pages> pages)
      : name(std::move(name)),
        memory(std::move(pages)),
        process({.program = interpreter_of(options).string(),
                 .arguments = {"-u", "-m", "troupe_worker"},
                 .environment = environment_variables(),
                 .memory_limit = static_cast<std::size_t>(options.memory_limit_mb) << 20},
                memory->file(), output_log(this->name, imports)) {}

  void kill() {
    running = false;
    process.kill();
  }

  [[noreturn]] void end(const std::string& how, bool was_late = false) {
    kill();
    throw python_ended(fmt::format("the Python process of {} {}", name, how), was_late);
  }

  /// Ends after the socket was closed: says how the process ended, and what it printed last.
  [[noreturn]] void end_of_socket(const activities& of) {
    if (stopping.stop_requested()) end("was ended, because the run ends");
    const auto how = process.end().value_or("has closed its socket");
    const auto printed = process.log();
    end(fmt::format("ended in {}: {}{}", of.present().name, how,
                    printed.empty() ? "" : "; the last that it printed:\n" + printed));
  }

  /// Waits until the socket is ready. Ends the process when what it does takes too long, or asks it
  /// before to give that up.
  void wait(short events, const activities& of) {
    pollfd socket{process.socket(), events, 0};
    for (;;) {
      const auto now = of.present();
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(now.until() - clock::now());
      auto pause = std::min(left, of.look_after());
      if (left.count() <= 0) {
        if (!of.may_give_up(-left))
          end(fmt::format("was killed, because {} took longer than {}", now.name, now.limit.text()),
              true);
        process.send_signal(give_up_signal());
        pause = std::chrono::seconds(1);
      }
      const int ready = ::poll(&socket, 1, static_cast<int>(pause.count()));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "cannot wait for a socket");
    }
  }

  void send(std::string_view bytes, const activities& of) {
    while (!bytes.empty()) {
      const auto sent =
          ::send(process.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (sent < 0 && errno == EAGAIN) {
        wait(POLLOUT, of);
      } else if (sent == 0 || errno != EINTR) {
        end_of_socket(of);
      }
    }
  }

  /// Receives the next message: its kind and its text.
  std::pair<char, std::string> receive(const activities& of) {
    for (;;) {
      if (received.size() >= header_bytes) {
        std::uint32_t length = 0;
        std::memcpy(&length, received.data() + 1, sizeof length);
        if (length > message_bytes_max)
          end(fmt::format("was killed, because it sent a message of {} bytes", length));
        if (received.size() >= header_bytes + length) {
          std::pair message(received[0], received.substr(header_bytes, length));
          received.erase(0, header_bytes + length);
          return message;
        }
      }
      std::array<char, 1 << 16> block;
      const auto bytes = ::recv(process.socket(), block.data(), block.size(), MSG_DONTWAIT);
      if (bytes > 0) {
        received.append(block.data(), static_cast<std::size_t>(bytes));
      } else if (bytes < 0 && errno == EAGAIN) {
        wait(POLLIN, of);
      } else if (bytes == 0 || errno != EINTR) {
        end_of_socket(of);
      }
    }
  }

  /// Sends a message and returns the text of the answer, which must be of that kind.
  std::string exchange(char kind, std::string_view text, char expected, const activities& of) {
    if (!running)
      throw python_ended(fmt::format("the Python process of {} has ended before", name));
    const std::stop_callback ending(stopping, [this] { process.hang_up(); });
    std::string message(1, kind);
    const auto length = static_cast<std::uint32_t>(text.size());
    message.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
    send(message, of);
    auto [got, answer] = receive(of);
    if (got != expected)
      end(fmt::format("was killed, because it sent a message of kind {}", static_cast<int>(got)));
    return std::move(answer);
  }

  json parse(const std::string& text) {
    try {
      return parse_large_json(text, message_bytes_max, "answer of a Python process");
    } catch (const config_error& error) {
      end(std::string("was killed, because its answer was refused: ") + error.what());
    }
  }

  /// Sends a command and returns the answer, an object that is no error.
  json call(const json& command, const activities& of) {
    // The first command imports the modules. Some packages print when an environment is made, too.
    const bool makes = command.value("do", "").starts_with("make");
    if (has_imported && !makes) *imports = false;
    has_imported = true;
    // What a language model writes may be no UTF-8.
    const auto text = command.dump(-1, ' ', false, json::error_handler_t::replace);
    auto answer = parse(exchange(json_kind, text, json_kind, of));
    if (!answer.is_object()) end("was killed, because it answered no object");
    if (const auto error = answer.find("error"); error != answer.end() && error->is_string()) {
      const auto place = name + ": ";
      const auto what = error->get<std::string>();
      throw python_error(what.starts_with(place) ? what : place + what);
    }
    return answer;
  }

  const std::string name;
  const std::shared_ptr<shared_pages> memory;
  const std::shared_ptr<std::atomic<bool>> imports = std::make_shared<std::atomic<bool>>(true);
  detail::program process;
  const std::stop_token stopping = system_stop_token();
  std::string received;
  bool running = true;
  bool has_imported = false;  // the first command was sent
};

python_worker::python_worker(const python_options& options, std::string name,
                             const python_worker* memory_of)
    : state_(std::make_unique<state>(
          options, std::move(name),
          memory_of ? memory_of->state_->memory : std::make_shared<shared_pages>())) {}

python_worker::~python_worker() = default;

std::string call_limit::text() const {
  return fmt::format("{} s{}", seconds, option.empty() ? "" : " (" + option + ')');
}

json python_worker::call(const json& command, const call_limit& limit, const std::string& action) {
  return state_->call(command, {action, limit});
}

json python_worker::call_or_give_up(const json& command, const call_limit& limit,
                                    const std::string& action) {
  return state_->call(command, {action, limit, true});
}

int python_worker::give_up_signal() { return SIGRTMIN + 3; }

json python_worker::step(const step_limits& limits) {
  const auto events = state_->exchange(step_kind, {}, stepped_kind, activities(limits));
  return events.empty() ? json() : state_->parse(events);
}

std::span<std::byte> python_worker::share(std::size_t bytes) { return state_->memory->map(bytes); }

void python_worker::kill() { state_->kill(); }

bool python_worker::is_running() const { return state_->running; }

pid_t python_worker::pid() const { return state_->process.pid(); }

}  // namespace troupe
