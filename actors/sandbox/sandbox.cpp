#include "actors/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/sandbox/program_user.hpp"
#include "actors/sandbox/run_files.hpp"
#include "actors/sandbox/sandbox_start.hpp"
#include "runtime/net/io_thread.hpp"
#include "runtime/process/memory_file.hpp"
#include "runtime/process/pidfd.hpp"

namespace troupe {

namespace {

using detail::descriptor;
using clock = std::chrono::steady_clock;

struct pipe_ends {
  pipe_ends() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    read = descriptor(ends[0]);
    write = descriptor(ends[1]);
  }
  descriptor read, write;
};

/// Opens a file in memory once more, for reading from its start.
descriptor reopened(const descriptor& file) {
  const auto path = "/proc/self/fd/" + std::to_string(file.number());
  return descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open a file in memory");
}

/// A file in memory that this process writes and a sandbox reads.
struct shared_text {
  /// Writes the text, once.
  void write(const std::string& text) {
    detail::seal_memory_file(ours, text, "write a file in memory");
    ours = descriptor();
  }

  descriptor ours = detail::empty_memory_file("make a file in memory"), theirs = reopened(ours);
};

double seconds_of(const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); }

}  // namespace

/// Text that is read from a pipe up to a limit.
struct sandbox::stream {
  stream(boost::asio::io_context& io, std::int64_t limit)
      : from(io), bytes_max(static_cast<std::size_t>(limit)) {}

  void open(descriptor end) {
    from.assign(end.release());
    from.non_blocking(true);
  }
  bool full() const { return text.size() > bytes_max; }
  /// Takes what there is. At the end, or if there is more than the limit, the pipe is closed.
  void drain() {
    std::array<char, 8192> block;
    boost::system::error_code error;
    while (from.is_open() && !full()) {
      const auto bytes = from.read_some(boost::asio::buffer(block), error);
      text.append(block.data(), bytes);
      if (error == boost::asio::error::would_block) return;
      if (error) from.close(error);
    }
    if (full()) from.close(error);
  }
  std::string take() {
    if (full()) text.resize(bytes_max);
    return std::exchange(text, {});
  }

  boost::asio::posix::stream_descriptor from;
  std::size_t bytes_max;
  std::string text = {};
};

struct sandbox::parts {
  parts(detail::io_thread& on, const sandbox_maker& by)
      : maker(by),
        output(on.context(), by.options_.limits.output_bytes),
        errors(on.context(), by.options_.limits.output_bytes),
        reported(on.context(), by.options_.limits.output_bytes),
        limit(on.context(), 4096),
        status(on.context(), 4096),
        end(on.context()),
        go(on.context()),
        wall(on.context()) {}
  // A sandbox that has not ended by itself, because its thread has ended.
  ~parts() {
    if (pid == 0) return;
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  const code_limits& limits() const { return maker.options_.limits; }

  const sandbox_maker& maker;
  std::optional<control_group> group;  ///< ends after all processes
  stream output, errors, reported, limit, status;
  /// bwrap's, 0 once it is reaped. It is the first process of a namespace, so that the kernel kills
  /// all others with it, and it has ended only when they have.
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor end;  ///< readable once bwrap has ended
  bool is_reaped = false;
  bool is_ready = false;  ///< true once an interpreter has started
  shared_text program, input;
  boost::asio::posix::stream_descriptor go;  ///< the pipe whose byte lets the run begin
  bool is_writing = false;                   ///< true while a cell is on its way into the pipe
  descriptor folder;                         ///< the run's /tmp
  boost::asio::steady_timer wall;
  clock::time_point began = {};
  std::vector<std::string> results = {};
  told tell = {};
  code_limit killed_for = code_limit::none;
  bool killed = false;
  int wait_status = 0;
  rusage used = {};
};

sandbox::sandbox(std::unique_ptr<parts> p) : parts_(std::move(p)) {}
sandbox::~sandbox() = default;

std::shared_ptr<sandbox> sandbox::start(detail::io_thread& thread, const sandbox_maker& maker,
                                        const std::vector<std::string>& own_command) {
  const bool has_program = own_command.empty();
  std::shared_ptr<sandbox> made(new sandbox(std::make_unique<parts>(thread, maker)));
  auto& p = *made->parts_;
  if (maker.groups_) p.group.emplace(maker.groups_->make(maker.options_.limits));
  pipe_ends output, errors, reported, limit, status, go;
  const auto filter = reopened(maker.filter_);
  p.pid =
      start_sandbox({.words = &maker.words_,
                     .command = has_program ? &maker.own_command_ : &own_command,
                     .descriptors = {p.input.theirs.number(), output.write.number(),
                                     errors.write.number(), reported.write.number(),
                                     go.read.number(), has_program ? p.program.theirs.number() : -1,
                                     has_program ? limit.write.number() : -1, filter.number(),
                                     status.write.number()},
                     .space_options = maker.space_options_.c_str(),
                     .uid_map = maker.uid_map_.c_str(),
                     .gid_map = maker.gid_map_.c_str(),
                     .group = p.group ? p.group->members() : -1,
                     .user = maker.user_ ? maker.user_->number() : 0});
  for (auto* each : {&p.program, &p.input}) each->theirs = descriptor();
  p.go.assign(go.write.release());
  p.go.non_blocking(true);
  p.end.assign(descriptor(::pidfd_open(p.pid, 0), "open a sandbox's process").release());
  const auto space = "/proc/" + std::to_string(p.pid) + "/root" + sandbox_numbers::space + "/tmp";
  p.folder = descriptor(::open(space.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  p.status.open(std::move(status.read));
  p.output.open(std::move(output.read));
  p.errors.open(std::move(errors.read));
  p.reported.open(std::move(reported.read));
  p.limit.open(std::move(limit.read));
  for (auto* each : {&p.status, &p.output, &p.errors, &p.reported, &p.limit}) made->read(*each);
  p.end.async_wait(p.end.wait_read, [self = made](boost::system::error_code error) {
    if (error) return;
    self->reap();
  });
  return made;
}

/// Reads until nobody can write any more. More than the limit ends the run.
void sandbox::read(stream& from) {
  from.from.async_wait(from.from.wait_read,
                       [self = shared_from_this(), &from](boost::system::error_code error) {
                         if (error) return;
                         from.drain();
                         if (from.full()) self->end_for(code_limit::output_bytes);
                         if (&from == &self->parts_->limit) {
                           self->note_ready();
                           self->note_cell();
                         }
                         if (from.from.is_open()) return self->read(from);
                         self->tell_end();
                       });
}

void sandbox::run(sandbox_input input, told tell) {
  auto& p = *parts_;
  try {
    if (!p.folder)
      throw std::runtime_error("sandbox: it has ended before its run: " + p.errors.text);
    for (const auto& name : input.results) check_file_name(name);
    put_files(p.folder, input.files, p.maker.user_ ? p.maker.user_->number() : 0);
    p.program.write(input.program);
    p.input.write(input.input);
  } catch (...) {
    kill();
    throw;
  }
  begin(std::move(input.results), std::move(tell));
  boost::system::error_code ended;
  p.go.write_some(boost::asio::buffer("g", 1), ended);
  p.go.close(ended);
  if (p.is_reaped) tell_end();
}

void sandbox::run_cell(sandbox_input input, told tell) {
  auto& p = *parts_;
  if (has_ended() || !p.folder)
    throw std::runtime_error("sandbox: a notebook has ended: " + p.errors.text);
  for (const auto& name : input.results) check_file_name(name);
  put_files(p.folder, input.files, p.maker.user_ ? p.maker.user_->number() : 0);
  // Cells do not use these files, which are sealed so that a program can't keep anything in them.
  for (auto* each : {&p.program, &p.input})
    if (each->ours) each->write("");
  const auto text = nlohmann::json{{"program", input.program}, {"input", input.input}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  begin(std::move(input.results), std::move(tell));
  const auto request = std::make_shared<std::string>(std::to_string(text.size()) + '\n' + text);
  p.is_writing = true;
  boost::asio::async_write(
      p.go, boost::asio::buffer(*request),
      [self = shared_from_this(), request](boost::system::error_code, std::size_t) {
        self->parts_->is_writing = false;
      });
}

/// Notes that an interpreter has started.
void sandbox::note_ready() {
  auto& p = *parts_;
  constexpr std::string_view line = "ready\n";
  if (p.is_ready || !p.limit.text.starts_with(line)) return;
  p.is_ready = true;
  p.limit.text.erase(0, line.size());
}

/// Ends a cell, of whose end the notebook tells. What it wrote before is in the pipes. A program
/// that tells of more ends than there are cells, or of one before its cell has arrived, ends the
/// notebook.
void sandbox::note_cell() {
  auto& p = *parts_;
  // Without cells a program has the pipe for itself; see one_program.
  if (!p.go.is_open() || !p.is_ready || p.killed || p.limit.text.empty()) return;
  const auto line_end = p.limit.text.find('\n');
  if (!p.tell || (p.is_writing && line_end != std::string::npos)) return kill();
  if (line_end == std::string::npos) return;
  const auto text = p.limit.take();
  for (auto* each : {&p.output, &p.errors, &p.reported}) {
    each->drain();
    if (each->full()) return end_for(code_limit::output_bytes);
  }
  p.wall.cancel();
  const auto told = nlohmann::json::parse(text.substr(0, line_end), nullptr, false);
  code_result got;
  got.wall_s = std::chrono::duration<double>(clock::now() - p.began).count();
  // The program itself could have written the line, so nothing in it is sure to have its type.
  const auto number = [&](const char* name) {
    const auto at = told.is_object() ? told.find(name) : told.end();
    return told.is_object() && at != told.end() && at->is_number() ? at->get<double>() : 0.0;
  };
  got.exit_code = static_cast<int>(std::clamp(number("exit_code"), 0.0, 255.0));
  got.cpu_s = number("cpu_s");
  got.memory_bytes = static_cast<std::int64_t>(std::clamp(number("memory_bytes"), 0.0, 1e15));
  if (told.is_object() && told.contains("limit") && told["limit"].is_string())
    got.limit = limit_named(told["limit"].get<std::string>());
  finish(got);
  if (line_end + 1 < text.size()) kill();
  std::exchange(p.tell, {})(std::move(got));
}

bool sandbox::has_ended() const { return parts_->is_reaped || parts_->killed; }

/// Starts the clock of a run.
void sandbox::begin(std::vector<std::string> results, told tell) {
  auto& p = *parts_;
  p.results = std::move(results);
  p.tell = std::move(tell);
  p.began = clock::now();
  p.wall.expires_after(std::chrono::duration_cast<clock::duration>(
      std::chrono::duration<double>(p.limits().wall_s)));
  p.wall.async_wait([self = weak_from_this()](boost::system::error_code error) {
    const auto still = self.lock();
    if (error || !still) return;
    // This may be the timer of a cell that has just ended.
    const auto& of = *still->parts_;
    if (of.tell && clock::now() >= of.wall.expiry()) still->end_for(code_limit::wall_time);
  });
}

void sandbox::end_for(code_limit limit) {
  auto& p = *parts_;
  if (p.killed || p.is_reaped) return;
  p.killed_for = limit;
  kill();
}

void sandbox::kill() {
  auto& p = *parts_;
  if (std::exchange(p.killed, true) || p.is_reaped) return;
  ::pidfd_send_signal(p.end.native_handle(), SIGKILL, nullptr, 0);
}

void sandbox::reap() {
  auto& p = *parts_;
  while (::wait4(p.pid, &p.wait_status, 0, &p.used) < 0 && errno == EINTR) {
  }
  p.pid = 0;
  p.is_reaped = true;
  p.wall.cancel();
  tell_end();
}

/// Tells the result, once bwrap and all that it had started have ended, and all is read.
void sandbox::tell_end() {
  auto& p = *parts_;
  if (!p.is_reaped) return;
  for (const auto* each : {&p.output, &p.errors, &p.reported, &p.limit, &p.status})
    if (each->from.is_open()) return;
  if (!p.tell) {
    if (const auto told = std::exchange(ended_early, {})) told(p.errors.text);
    return;
  }
  const auto tell = std::exchange(p.tell, {});
  outcome<code_result> got(std::exception_ptr{});
  try {
    got = result();
  } catch (...) {
    got = std::current_exception();
  }
  p.folder = descriptor();
  tell(std::move(got));
}

code_result sandbox::result() {
  auto& p = *parts_;
  code_result got;
  const auto used = p.group ? p.group->end() : control_group::usage();
  const bool has_ended = p.status.text.find("exit-code") != std::string::npos;
  if (!has_ended && !p.killed && used.limit == code_limit::none)
    throw std::runtime_error("sandbox: it could not be made: " + p.errors.text);
  if (!p.is_ready && !p.killed && !p.maker.own_command_.empty())
    throw std::runtime_error("sandbox: the interpreter did not start: " + p.errors.text);
  const int code =
      WIFEXITED(p.wait_status) ? WEXITSTATUS(p.wait_status) : 128 + WTERMSIG(p.wait_status);
  constexpr int last_signal = 64;
  // bwrap's exit code is that of the program, or 128 and the signal that ended the program.
  if (code > 128 && code <= 128 + last_signal)
    got.signal = code - 128;
  else
    got.exit_code = code;
  got.wall_s = std::chrono::duration<double>(clock::now() - p.began).count();
  got.cpu_s = seconds_of(p.used.ru_utime) + seconds_of(p.used.ru_stime);
  got.memory_bytes = std::int64_t{p.used.ru_maxrss} << 10;
  if (used.memory_bytes > 0) got.memory_bytes = used.memory_bytes;
  got.limit = p.killed_for == code_limit::none ? used.limit : p.killed_for;
  if (got.limit == code_limit::none && is_end_of_cpu_time(got, p.limits()))
    got.limit = code_limit::cpu_time;
  if (got.limit == code_limit::none) got.limit = limit_named(p.limit.text);
  finish(got);
  return got;
}

/// Adds what a run has written, and the limits that it shows.
void sandbox::finish(code_result& got) {
  auto& p = *parts_;
  const auto found = [&](code_limit limit, bool is_hit) {
    if (got.limit == code_limit::none && is_hit) got.limit = limit;
  };
  got.truncated = p.output.full() || p.errors.full() || p.reported.full();
  bool cut = false;
  got.files = take_files(p.folder, p.results, p.limits().output_bytes, cut);
  struct statfs space{};
  const bool is_seen = ::fstatfs(p.folder.number(), &space) == 0;
  found(code_limit::files, is_seen && space.f_ffree == 0);
  found(code_limit::written_bytes, is_seen && space.f_bfree == 0);
  found(code_limit::output_bytes, got.truncated || cut);
  got.output = p.output.take();
  got.errors = p.errors.take();
  got.reported = p.reported.take();
}

}  // namespace troupe
