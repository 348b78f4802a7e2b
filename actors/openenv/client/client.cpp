#include "actors/openenv/client/client.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>

#include "actors/openenv/client/client_metrics.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/link.hpp"
#include "actors/openenv/client/servers.hpp"
#include "actors/openenv/client/tls.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/external_result.hpp"

namespace troupe::openenv {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds backoff_min{50};
constexpr milliseconds backoff_max{2000};
/// While other sessions of this process play, a session waits so many times capacity_timeout.
constexpr int patience = 10;
/// The fields that the client writes itself.
constexpr std::string_view own_headers[] = {"connection", "content-length",    "content-type",
                                            "host",       "transfer-encoding", "upgrade"};

void require(bool good, const char* name, const std::string& expected, const std::string& got) {
  if (!good)
    throw std::invalid_argument(std::string("openenv: ") + name + ": expected " + expected +
                                ", got " + got);
}

void require_positive(const char* name, milliseconds value) {
  require(value.count() > 0, name, "more than 0 ms", std::to_string(value.count()) + " ms");
}

/// Checks a field of a header. The message does not contain the value, which may be a secret.
void require_header(const std::string& name, const std::string& value) {
  const auto is_token = [](unsigned char c) {
    return std::isalnum(c) != 0 || (c != 0 && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
  };
  require(!name.empty() && std::ranges::all_of(name, is_token), "headers", "the name of a field",
          '"' + troupe::detail::printable(name, 80) + '"');
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; };
  require(std::ranges::none_of(value, is_control), "headers",
          "a value of " + name + " on one line, without control characters",
          "one that contains some");
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool is_own = lower.starts_with("sec-websocket-") ||
                      std::ranges::count(own_headers, std::string_view(lower)) > 0;
  require(!is_own, "headers", "fields that the client does not write itself", name);
}

/// Returns a random time between half of `limit` and all of it, so that sessions that were refused
/// together do not retry together.
milliseconds jittered(milliseconds limit) {
  thread_local std::minstd_rand random{std::random_device()()};
  return milliseconds(
      std::uniform_int_distribution<std::int64_t>(limit.count() / 2, limit.count())(random));
}

reply_kind reply_to(request_kind asked) {
  switch (asked) {
    case request_kind::state:
      return reply_kind::state;
    case request_kind::mcp:
      return reply_kind::mcp;
    default:
      return reply_kind::observation;
  }
}

/// Parses the reply to a request of kind `asked`. Throws openenv::error if the text is an error
/// reply or another message.
reply read_reply(const known_server& from, request_kind asked, const std::string& text,
                 std::size_t bytes_max) {
  const auto where = [&] {
    return "openenv: " + from.url.text + ": " + std::string(to_string(asked)) + ": ";
  };
  reply got;
  try {
    got = parse_reply(text, bytes_max);
  } catch (const bad_text& e) {
    throw error(to_failure(e.fault()), where() + e.what());
  }
  if (got.kind == reply_kind::error) {
    auto& said = got.error;
    std::string message = where() + std::string(to_string(said.code)) + ": " +
                          troupe::detail::printable(said.message, 8192);
    if (said.details.contains("errors"))
      message += ": " + said.details["errors"].dump(-1, ' ', false, json::error_handler_t::replace);
    throw error(to_failure(said.code), message, std::move(said.details));
  }
  if (got.kind != reply_to(asked))
    throw error(failure::unexpected, where() + "expected a message of type " +
                                         std::string(to_string(reply_to(asked))) + ", got " +
                                         std::string(to_string(got.kind)));
  return got;
}

std::string text_of(const json& data, const char* what) {
  if (!data.is_object())
    throw std::invalid_argument(std::string("openenv: expected ") + what +
                                " as a JSON object, got " + std::string(data.type_name()));
  auto text = data.dump();
  require(text.size() <= request_bytes_max, what,
          "at most " + std::to_string(request_bytes_max) + " bytes", std::to_string(text.size()));
  return text;
}

}  // namespace

// ---- The servers.

class client::pool {
 public:
  pool(client_options options, metrics_registry* metrics)
      : options(std::move(options)), metrics(metrics), thread(io_thread::of_this_process()) {
    const auto& o = this->options;
    require(!o.urls.empty(), "urls", "at least one server", "none");
    require_positive("connect_timeout", o.connect_timeout);
    require_positive("reply_timeout", o.reply_timeout);
    if (o.reset_timeout) require_positive("reset_timeout", *o.reset_timeout);
    require(o.capacity_timeout.count() >= 0, "capacity_timeout", ">= 0 ms",
            std::to_string(o.capacity_timeout.count()) + " ms");
    require_positive("keepalive", o.keepalive);
    require(o.reply_bytes_max > 0, "reply_bytes_max", "> 0", "0");
    require(o.sessions_max > 0, "sessions_max", "> 0", "0");
    for (const auto& [name, value] : o.headers) require_header(name, value);
    for (const auto& url : o.urls) servers.push_back(server_at(url));
    const bool any_tls = std::ranges::any_of(servers, [](const auto& s) { return s->url.tls; });
    if (any_tls) trust = std::make_shared<tls_trust>(o.authorities);
  }

  /// Takes a seat at the server with the fewest sessions among those that may have room, and
  /// returns null if there is none. A server that was full or gone a moment ago is used only if
  /// there is no other and `pressed` is true. One at which sessions wait is used only by a session
  /// that waits itself.
  std::shared_ptr<known_server> take_seat(bool pressed, bool waits) const {
    auto order = servers;
    std::ranges::stable_sort(order, {}, [](const auto& s) { return s->sessions.load(); });
    for (const bool avoided : {false, true}) {
      if (avoided && !pressed) break;
      for (const auto& s : order) {
        const bool may_come = s->avoided() == avoided && (waits || !s->is_sought());
        if (may_come && s->take_seat(options.sessions_max)) return s;
      }
    }
    return nullptr;
  }

  /// Returns whether this process has no session at any server. Then waiting for a free seat would
  /// never end.
  bool nowhere_seated() const {
    return std::ranges::all_of(servers, [](const auto& s) { return s->sessions == 0; });
  }

  /// Returns when a session that came at `came` stops waiting for room. The time begins anew with
  /// each reply to a session of this process, because that one will leave its slot. It is longer at
  /// most by the factor `patience` after the last session of this process that was admitted.
  std::chrono::steady_clock::time_point room_expected_until(
      std::chrono::steady_clock::time_point came) const {
    auto replied = came, admitted = came;
    for (const auto& s : servers) {
      replied = std::max(replied, s->last_reply());
      admitted = std::max(admitted, s->last_admission());
    }
    const auto limit = options.capacity_timeout;
    return std::min(replied + limit, admitted + patience * limit);
  }

  link_options link_with(const known_server& server) const {
    return {{options.connect_timeout, options.named_by.connect},
            options.keepalive,
            options.reply_bytes_max,
            trust,
            server.answers_pings,
            options.headers};
  }

  const client_options options;
  const client_metrics metrics;
  const std::shared_ptr<io_thread> thread;
  std::shared_ptr<tls_trust> trust;  ///< Null if no server uses TLS.
  std::vector<std::shared_ptr<known_server>> servers;
};

client::client(client_options options, metrics_registry* metrics)
    : pool_(std::make_shared<pool>(std::move(options), metrics)) {}

const client_options& client::options() const noexcept { return pool_->options; }

// ---- One session.

class session::state_of {
 public:
  explicit state_of(std::shared_ptr<client::pool> pool) : pool_(std::move(pool)) {
    resting_.metrics = &pool_->metrics;
    for (const auto& server : pool_->servers) ++server->clients;
  }
  ~state_of() {
    drop();
    for (const auto& server : pool_->servers) --server->clients;
  }

  bool connected() const { return link_ || (at_ && at_->holds(resting_)); }

  /// Closes the connection, and ends what is under way.
  void close() {
    ++closed_;
    drop();
  }

  void end_episode() {
    if (asking_ || !in_episode_) return;
    in_episode_ = false;
    rest();
  }

  /// Closes the connection, if there is one. `is_refused` says that the server had no slot for it.
  void drop(bool is_refused = false) {
    resume();
    if (!link_) return;
    std::exchange(link_, nullptr)->close();
    in_episode_ = false;
    const auto left = std::exchange(at_, nullptr);
    is_refused ? left->leave_unused() : left->leave_seat();
    pool_->metrics.disconnected();
  }

  void drop_episode(failure reason) {
    pool_->metrics.failed(reason);
    pool_->metrics.episode_dropped();
    drop();
  }

  /// Sends a request on the open connection and returns the reply.
  task<reply> ask(request_kind kind, std::string data) {
    resume();
    if (!link_)
      throw error(failure::closed, "openenv: " + std::string(to_string(kind)) +
                                       ": there is no connection: an episode begins with a reset");
    if (asking_)
      throw std::logic_error(
          "openenv: a session was asked before it had answered: one request at a time");
    turn_guard turn(*this);
    const auto closed_before = closed_;
    reply got;
    try {
      const std::string text = co_await exchange(kind, std::move(data));
      require_open(closed_before, kind);
      got = read_reply(*at_, kind, text, pool_->options.reply_bytes_max);
      const auto seen = std::exchange(last_seen_, std::hash<std::string>()(text));
      if (kind == request_kind::step && seen == last_seen_)
        co_await require_answered(closed_before);
    } catch (const error& e) {
      turn.answered = keeps_session(e.reason());
      turn.counted = true;
      turn.is_refused = e.reason() == failure::capacity;
      pool_->metrics.failed(e.reason());
      throw;
    }
    turn.answered = true;
    at_->note_reply();
    in_episode_ = !got.result.ended && (in_episode_ || kind == request_kind::reset);
    pool_->metrics.replied();
    co_return got;
  }

  /// Begins an episode on the open connection, or on a new one.
  task<reply> begin(std::string data) {
    resume();
    if (link_) {
      std::optional<reply> got;
      try {
        got = co_await ask(request_kind::reset, data);
      } catch (const error& e) {
        // The connection was lost between episodes, so no episode was on it.
        if (e.reason() != failure::closed && e.reason() != failure::unexpected) throw;
      }
      if (got) co_return std::move(*got);
    }
    const auto came = std::chrono::steady_clock::now();
    const auto closed_before = closed_;
    auto backoff = backoff_min;
    std::string full = "this process has sessions_max sessions there, or others that wait longer";
    std::optional<seeker> waiting;
    bool is_told = false;  // a session of this process has left a server
    bool tries = true;
    std::optional<std::chrono::steady_clock::time_point> all_gone_since;
    for (;;) {
      const auto begun = std::chrono::steady_clock::now();
      std::exception_ptr gone;
      bool may_return = false;
      bool full_somewhere = false;
      bool first = true;
      while (tries) {
        auto place = pool_->take_seat(std::exchange(first, false), waiting.has_value());
        if (!place) break;
        const auto asked = place;
        std::optional<reply> got;
        try {
          co_await connect(std::move(place), closed_before);
          got = co_await ask(request_kind::reset, data);
        } catch (const error& e) {
          if (e.reason() == failure::capacity) {
            full = e.what();
            if (full.ends_with('.')) full.pop_back();  // a sentence follows
            full_somewhere = true;
            if (is_too_small(e.details())) throw_no_room(full);
            if (pool_->options.sessions_together == 0) asked->note_refusal(e.details());
            asked->avoid_for(backoff / 2);
          } else if (const bool returns = dynamic_cast<const unavailable*>(&e);
                     returns || (e.reason() == failure::connect && pool_->servers.size() > 1)) {
            gone = std::current_exception();
            may_return |= returns;
            asked->avoid_for(backoff_max);
          } else {
            throw;
          }
        }
        if (!got) continue;
        asked->note_admission();
        if (waiting && !is_told) waiting->pass_on();
        co_return std::move(*got);
      }
      const bool none_full = gone && !full_somewhere;
      const bool all_gone = none_full && (pool_->servers.size() == 1 || pool_->nowhere_seated());
      if (all_gone && !all_gone_since) all_gone_since = begun;
      if (!all_gone) all_gone_since.reset();
      const auto limit = all_gone ? *all_gone_since + pool_->options.connect_timeout
                                  : pool_->room_expected_until(came);
      const auto now = std::chrono::steady_clock::now();
      const bool is_over = now + (all_gone ? backoff : milliseconds(0)) >= limit;
      if (none_full && (is_over || (all_gone && !may_return))) std::rethrow_exception(gone);
      if (is_over) throw_no_room(full);
      if (!all_gone) {
        pool_->metrics.waits_for_capacity();
        if (!waiting) waiting.emplace(pool_->servers);
        for (const auto& server : pool_->servers) server->close_resting();
      }
      is_told = false;
      if (waiting)
        is_told = co_await waiting->wait(std::min<duration>(jittered(backoff), limit - now));
      else
        co_await sleep_for(jittered(backoff));
      require_open(closed_before, request_kind::reset);
      tries = is_told || !waiting || waiting->is_first();
      // A server takes a moment to free the slot of a session that was closed.
      backoff = is_told ? backoff_min : std::min(2 * backoff, backoff_max);
    }
  }

 private:
  /// Returns whether the only server says that it has fewer slots than sessions play together.
  bool is_too_small(const json& details) const {
    const auto slots = slots_in(details);
    return pool_->servers.size() == 1 && slots > 0 && slots < pool_->options.sessions_together;
  }

  [[noreturn]] void throw_no_room(const std::string& full) const {
    const auto limit = pool_->options.capacity_timeout;
    throw error(
        failure::capacity,
        "openenv: no server had room" +
            (limit.count() > 0
                 ? " within " + named_limit(limit, pool_->options.named_by.capacity).text() + ": "
                 : std::string(": ")) +
            full +
            ". Sessions of this process take turns; those of another process may keep "
            "their slots between episodes, unless release_between_episodes is set there");
  }

  /// Throws if the session was closed since `closed_` had that value.
  void require_open(int closed_before, request_kind kind) const {
    if (closed_ != closed_before)
      throw error(failure::cancelled, "openenv: " + std::string(to_string(kind)) +
                                          ": the session was closed before the reply came");
  }

  /// Takes the connection back that rested between two episodes.
  void resume() {
    if (link_ || !at_) return;
    link_ = at_->resume(resting_);
    if (!link_) at_ = nullptr;  // another session had need of the slot
  }

  /// Leaves the connection for the next episode, or closes it where slots are scarce.
  void rest() {
    if (!link_) return;
    if (pool_->options.release_between_episodes || at_->is_scarce() || at_->is_sought())
      return drop();
    at_->rest(resting_, std::exchange(link_, nullptr));
  }

  /// Marks the session as asked. If the request does not end with a reply, the reply may still
  /// arrive, so the guard closes the connection.
  struct turn_guard {
    explicit turn_guard(state_of& s) : of(s) { of.asking_ = true; }
    turn_guard(const turn_guard&) = delete;
    ~turn_guard() {
      of.asking_ = false;
      if (answered) {
        if (!of.in_episode_) of.rest();
        return;
      }
      if (!counted) of.pool_->metrics.failed(failure::cancelled);
      if (of.in_episode_) of.pool_->metrics.episode_dropped();
      of.drop(is_refused);
    }
    state_of& of;
    bool answered = false;
    bool counted = false;
    bool is_refused = false;
  };

  task<std::string> exchange(request_kind kind, std::string data) {
    external_result<std::string> answer("a reply of an OpenEnv server");
    const auto& options = pool_->options;
    named_limit limit(options.reply_timeout, options.named_by.reply);
    if (kind == request_kind::reset && options.reset_timeout)
      limit = {*options.reset_timeout, options.named_by.reset};
    link_->ask(kind, std::move(data), std::move(limit), [answer](outcome<std::string> got) {
      got ? answer.set(std::move(got).value()) : answer.fail(got.error());
    });
    return answer.wait();
  }

  /// Checks that a step's reply, which equals the previous reply byte for byte, is not a
  /// repetition. If the server has repeated itself, the true reply is still to come and arrives in
  /// place of the reply to this request.
  task<> require_answered(int closed_before) {
    const std::string text = co_await exchange(request_kind::state, "");
    require_open(closed_before, request_kind::step);
    try {
      read_reply(*at_, request_kind::state, text, pool_->options.reply_bytes_max);
    } catch (const error& e) {
      if (!keeps_session(e.reason())) throw;
    }
  }

  /// Frees the seat of a connection that could not be made.
  struct seat_guard {
    explicit seat_guard(std::shared_ptr<known_server> at) : at(std::move(at)) {}
    seat_guard(const seat_guard&) = delete;
    ~seat_guard() {
      if (way) way->close();
      if (at) at->leave_unused();
    }
    std::shared_ptr<known_server> at;
    std::shared_ptr<link> way;
  };

  task<> connect(std::shared_ptr<known_server> place, int closed_before) {
    seat_guard seat(std::move(place));
    auto& speaks = seat.at->speaks;
    if (speaks != dialect::http) {
      seat.way = make_websocket_link(*pool_->thread, seat.at->url, pool_->link_with(*seat.at));
      bool declined = false;
      try {
        co_await open(seat.way);
      } catch (const error& e) {
        declined = e.reason() == failure::handshake && speaks == dialect::unknown &&
                   !dynamic_cast<const unavailable*>(&e);
        if (!declined) {
          pool_->metrics.failed(e.reason());
          throw;
        }
      }
      if (!declined) speaks = dialect::websocket;
      if (declined) seat.way = nullptr;
    }
    if (!seat.way) {
      seat.way = make_http_link(*pool_->thread, seat.at->url, pool_->link_with(*seat.at));
      try {
        co_await open(seat.way);
      } catch (const error& e) {
        pool_->metrics.failed(e.reason());
        throw;
      }
      speaks = dialect::http;
    }
    require_open(closed_before, request_kind::reset);
    link_ = std::move(seat.way);
    at_ = std::move(seat.at);
    pool_->metrics.connected();
  }

  static task<> open(std::shared_ptr<link> way) {
    external_result<std::string> opened("a connection to an OpenEnv server");
    way->open([opened](outcome<std::string> got) {
      got ? opened.set(std::move(got).value()) : opened.fail(got.error());
    });
    co_await opened.wait();
  }

  const std::shared_ptr<client::pool> pool_;
  std::shared_ptr<known_server> at_;  ///< Set while there is a connection.
  std::shared_ptr<link> link_;        ///< Null while there is no connection, or it rests.
  resting_connection resting_;
  int closed_ = 0;  ///< How often the session was closed.
  bool asking_ = false;
  bool in_episode_ = false;
  std::size_t last_seen_ = 0;  ///< The hash of the last reply.
};

session::session(std::unique_ptr<state_of> state) : state_(std::move(state)) {}
session::session(session&&) noexcept = default;
session& session::operator=(session&&) noexcept = default;
session::~session() = default;

session client::open() const { return session(std::make_unique<session::state_of>(pool_)); }

task<result> session::reset(json with) {
  if (with.is_null()) with = json::object();
  auto got = co_await state_->begin(text_of(with, "what to reset with"));
  co_return std::move(got.result);
}

task<result> session::step(json action) {
  auto got = co_await state_->ask(request_kind::step, text_of(action, "an action"));
  co_return std::move(got.result);
}

task<json> session::state() {
  auto got = co_await state_->ask(request_kind::state, "");
  co_return std::move(got.data);
}

task<json> session::mcp(json request) {
  auto got = co_await state_->ask(request_kind::mcp, text_of(request, "a JSON-RPC request"));
  co_return std::move(got.data);
}

void session::end_episode() { state_->end_episode(); }
bool session::connected() const noexcept { return state_->connected(); }
void session::close() { state_->close(); }
void session::drop(failure reason) { state_->drop_episode(reason); }

}  // namespace troupe::openenv
