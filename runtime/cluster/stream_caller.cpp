#include "runtime/cluster/stream_caller.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <variant>

#include "runtime/base/freed_memory.hpp"
#include "runtime/cluster/link_thread.hpp"
#include "runtime/cluster/listen_address.hpp"
#include "runtime/cluster/tls_context.hpp"
#include "runtime/net/host_resolver.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using socket = socket_stream::socket;

/// The calling side, which says and hears in turn: the challenge, if there is one, and the hello.
class called_stream final : public peer_stream {
 public:
  called_stream(const link_options& options, trust by, std::shared_ptr<stream_owner> owner)
      : peer_stream(options, std::move(by), std::move(owner)), resolver_(link_context()) {}

  void begin(const std::string& address);
  /// Ends the attempt, or the link.
  void give_up();

 private:
  using results = host_resolver::results;

  /// Without certificates nothing is said to another machine, whatever its name resolves to.
  std::optional<join_refusal> beyond_this_machine(const results& found) const;
  void connect(const results& to);
  void connected();
  void agree_on_tls();
  std::optional<join_refusal> judge(const std::string& chain);
  void exchange();
  void check_answer();
  void say_hello();
  void check_hello();
  /// The listener has proved that it is at its host or knows the secret, so it may have any name.
  std::optional<join_refusal> contradiction(const proven_identity&) const override { return {}; }
  /// Hears what the listener says, unless it is a refusal.
  void hear_answer(std::function<void()> then);

  void fail(const join_refusal& why);
  void unreachable(const std::string& why) { fail({"unreachable", why}); }
  void gone_early(const std::string& why) override { unreachable(why); }
  void refuse(const join_refusal& no) override { fail(no); }

  host_resolver resolver_;
  bool looks_up_ = false;  ///< True while the host's addresses are looked up.
  std::string host_;
  chain_judge judge_ = [this](const std::string& chain) { return not_believed_ = judge(chain); };
  std::optional<join_refusal> not_believed_;
  proven_identity proven_;
};

void called_stream::begin(const std::string& address) {
  const auto to = parse_host_and_port(address);
  if (!to) return unreachable("expected HOST:PORT to join, got \"" + address + "\"");
  host_ = to->host;
  looks_up_ = true;
  resolver_.async_resolve(to->host, to->port,
                          while_exchanging([this](error_code error, const results& found) {
                            looks_up_ = false;
                            if (error)
                              return unreachable("cannot find " + host_ + ": " + error.message());
                            if (const auto no = beyond_this_machine(found)) return fail(*no);
                            connect(found);
                          }));
}

std::optional<join_refusal> called_stream::beyond_this_machine(const results& found) const {
  if (by_.certificates) return {};
  for (const auto& each : found) {
    const auto address = each.endpoint().address();
    if (address.is_loopback()) continue;
    return join_refusal{"plain_text", "expected certificates or an address of this machine, got " +
                                          address.to_string() + ", which is that of " + host_};
  }
  return {};
}

void called_stream::connect(const results& to) {
  bytes_.emplace(socket(link_context().get_executor()));
  asio::async_connect(bytes_->plain(), to,
                      while_exchanging([this](error_code error, const tcp::endpoint&) {
                        if (error) return unreachable(text_of(error));
                        connected();
                      }));
}

void called_stream::connected() {
  error_code ignored;
  bytes_->plain().set_option(tcp::no_delay(true), ignored);
  by_.certificates ? agree_on_tls() : exchange();
}

void called_stream::agree_on_tls() {
  std::shared_ptr<asio::ssl::context> context;
  try {
    context = std::make_shared<asio::ssl::context>(calling_context(*by_.certificates, judge_));
  } catch (const std::exception& e) {
    return fail({"certificate", e.what()});
  }
  bytes_->agree_on_tls(std::move(context), asio::ssl::stream_base::client,
                       while_exchanging([this](error_code error) {
                         if (not_believed_) return fail(*not_believed_);
                         if (error) return unreachable("no TLS: " + text_of(error));
                         if (!proven_.secure) {
                           return fail({"no_certificate", "expected a certificate, got none"});
                         }
                         exchange();
                       }));
}

std::optional<join_refusal> called_stream::judge(const std::string& chain) {
  try {
    auto judged = verify_chain(chain, *by_.certificates, std::chrono::system_clock::now(),
                               shown_by::listener);
    if (const auto* no = std::get_if<join_refusal>(&judged)) return *no;
    proven_ = std::get<proven_identity>(std::move(judged));
    return host_contradiction(chain, host_);
  } catch (const std::exception& e) {
    return join_refusal{"certificate", e.what()};
  }
}

void called_stream::exchange() {
  if (!by_.secret) return say_hello();
  nonces_.caller = random_digits();
  say(to_text(join_challenge{nonces_.caller, ""}),
      [this] { hear_answer([this] { check_answer(); }); });
}

void called_stream::hear_answer(std::function<void()> then) {
  hear([this, then = std::move(then)] {
    if (const auto why = parse_refusal(heard_)) return fail({"refused", *why});
    then();
  });
}

void called_stream::check_answer() {
  join_challenge answer;
  try {
    answer = parse_challenge(heard_);
  } catch (const std::invalid_argument& e) {
    return fail({"garbage", e.what()});
  }
  nonces_.listener = answer.nonce;
  if (by_.secret->is_proof(answer.proof, prover::listener, nonces_)) return say_hello();
  fail({"secret",
        "this node does not trust who listens there, which does not know the secret of " +
            by_.secret->file().string() +
            "; is it another user's controller, or has it another file? Both ends read the same "
            "secret (--join-secret)"});
}

void called_stream::say_hello() {
  say(hello_text(by_.secret ? by_.secret->proof(prover::caller, nonces_) : ""),
      [this] { hear_answer([this] { check_hello(); }); });
}

void called_stream::check_hello() {
  if (const auto no = find_refusal(proven_)) return fail(*no);
  join();
}

void called_stream::fail(const join_refusal& why) {
  if (over_) return;
  close();
  resolver_.cancel();
  owner_->failed(why);
}

void called_stream::give_up() {
  if (end_link()) return;
  unreachable(looks_up_ ? "no name server has told the address of " + host_ + " in time"
                        : "no answer came in time");
}

class handle final : public stream_call {
 public:
  explicit handle(std::shared_ptr<called_stream> to) : to_(std::move(to)) {}
  void cancel() override {
    asio::post(link_context(), [to = to_] { to->give_up(); });
  }

 private:
  const std::shared_ptr<called_stream> to_;
};

}  // namespace

stream_caller::stream_caller(const std::optional<credentials>& own, const std::string& secret_file)
    : by_(trust_by(own, secret_file)) {
  keep_freed_memory();
}

std::unique_ptr<stream_call> stream_caller::call(const std::string& address,
                                                 const link_options& options,
                                                 std::shared_ptr<stream_owner> owner) const {
  const auto to = std::make_shared<called_stream>(options, by_, std::move(owner));
  asio::post(link_context(), [to, address] { to->begin(address); });
  return std::make_unique<handle>(to);
}

}  // namespace troupe::detail
