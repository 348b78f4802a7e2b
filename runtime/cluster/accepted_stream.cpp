#include "runtime/cluster/accepted_stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <variant>

#include "runtime/cluster/first_bytes.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using socket = socket_stream::socket;

/// What a refused peer may send until it has read why, in bytes.
constexpr std::size_t unread_max = 64 << 10;

}  // namespace

accepted_stream::accepted_stream(socket from, const link_options& options, trust by,
                                 std::shared_ptr<stream_owner> owner, std::function<void()> settled,
                                 std::shared_ptr<const void> presence)
    : peer_stream(options, std::move(by), std::move(owner)), settled_(std::move(settled)) {
  presence_ = std::move(presence);
  error_code ignored;
  // Without this option a write of a few bytes waits for the other side's delayed acknowledgement,
  // 40 ms.
  from.set_option(asio::ip::tcp::no_delay(true), ignored);
  bytes_.emplace(std::move(from));
}

void accepted_stream::begin(listening_contexts* contexts) {
  contexts_ = contexts;
  wait_for_first();
}

// ---- the exchange -------------------------------------------------------------------------------

void accepted_stream::wait_for_first() {
  bytes_->plain().async_wait(socket::wait_read, while_exchanging([this](error_code error) {
                               if (error) return gone_early(text_of(error));
                               look_at_first();
                             }));
}

void accepted_stream::look_at_first() {
  std::array<char, 24> bytes;
  const auto n =
      ::recv(bytes_->plain().native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return wait_for_first();
  if (n <= 0) {  // The connection has gone without sending anything, as checks of a port do.
    refused_ = true;
    return drop({});
  }
  first_seen_ = true;
  const std::string_view first(bytes.data(), static_cast<std::size_t>(n));
  const auto no = judge_first_bytes(first, contexts_ != nullptr);
  if (no) return may_be_a_peer(first) ? refuse(*no) : drop(*no);
  contexts_ ? agree_on_tls() : exchange();
}

void accepted_stream::agree_on_tls() {
  bytes_->agree_on_tls(contexts_->current(), asio::ssl::stream_base::server,
                       while_exchanging([this](error_code error) { tls_agreed(error); }));
}

void accepted_stream::tls_agreed(error_code error) {
  if (error) return drop({"garbage", "no TLS: " + text_of(error)});
  try {
    auto judged = verify_chain(shown_chain(bytes_->tls()), *by_.certificates,
                               std::chrono::system_clock::now());
    if (const auto* no = std::get_if<join_refusal>(&judged)) return refuse(*no);
    proven_ = std::get<proven_identity>(std::move(judged));
  } catch (const std::runtime_error& e) {
    return refuse({"certificate", e.what()},
                  "certificates can't be checked at the other side; its log says why");
  }
  exchange();
}

void accepted_stream::exchange() {
  if (!by_.secret) return hear([this] { answer_hello(); });
  hear([this] {
    if (const auto no = answer_challenge()) refuse(*no);
  });
}

std::optional<join_refusal> accepted_stream::answer_challenge() {
  try {
    nonces_.caller = parse_challenge(heard_).nonce;
  } catch (const std::invalid_argument& e) {
    return join_refusal{"garbage", e.what()};
  }
  nonces_.listener = random_digits();
  say(to_text(join_challenge{nonces_.listener, by_.secret->proof(prover::listener, nonces_)}),
      [this] { hear([this] { answer_hello(); }); });
  return {};
}

void accepted_stream::answer_hello() {
  if (const auto no = find_refusal(proven_)) return refuse(*no);
  admitted_ = true;
  say(hello_text(""), [this] {
    settle();
    join();
  });
}

std::optional<join_refusal> accepted_stream::contradiction(const proven_identity& proven) const {
  if (by_.secret && !by_.secret->is_proof(theirs_.proof, prover::caller, nonces_)) {
    return join_refusal{"secret",
                        "expected a proof that the node knows the controller's join secret; both "
                        "have to run as the same user, or with the same --join-secret FILE"};
  }
  return name_contradiction(proven, theirs_.name);
}

// ---- ends ---------------------------------------------------------------------------------------

/// Returns why nothing more comes.
join_refusal accepted_stream::silence() const {
  if (nonces_.listener.empty()) return {"silent", "said no hello"};
  return {"secret", "the caller went when it had seen the proof of " + by_.secret->file().string() +
                        ": it may have another join secret"};
}

void accepted_stream::gone_early(const std::string&) { drop(silence()); }

void accepted_stream::expire() { drop({"silent", first_seen_ ? "said no hello" : "nothing came"}); }

void accepted_stream::make_room() {
  if (!first_seen_) return expire();
  drop({"crowded", "more connections came before this one had proved who it is"});
}

void accepted_stream::refuse(const join_refusal& no, const std::string& told) {
  refused_ = true;
  owner_->failed(no);
  say(refusal_text(told), [this] {
    error_code ignored;
    bytes_->plain().shutdown(socket::shutdown_send, ignored);
    wait_for_its_end();
  });
}

/// A socket that is closed before all was read takes back what was written.
void accepted_stream::wait_for_its_end() {
  bytes_->plain().async_read_some(asio::buffer(unread_),
                                  while_exchanging([this](error_code error, std::size_t size) {
                                    unread_bytes_ += size;
                                    if (error || unread_bytes_ > unread_max) return drop({});
                                    wait_for_its_end();
                                  }));
}

void accepted_stream::drop(const join_refusal& no) {
  // What the owner refers to, such as a registry of metrics, may end with the last presence.
  const auto presence = presence_;
  close();
  if (admitted_) {
    owner_->left(theirs_);
  } else if (!refused_) {
    owner_->failed(no);
  }
  settle();
}

void accepted_stream::settle() {
  if (const auto settled = std::exchange(settled_, nullptr)) settled();
}

}  // namespace troupe::detail
