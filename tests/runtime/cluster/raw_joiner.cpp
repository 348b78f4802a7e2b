#include "tests/runtime/cluster/raw_joiner.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "runtime/cluster/listen_address.hpp"
#include "tests/runtime/cluster/raw_socket.hpp"

namespace troupe::detail::testing {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

template <class Stream>
raw_answer talk_over(Stream& way, const std::vector<raw_text>& texts,
                     const std::function<void()>& meanwhile) {
  raw_answer answer;
  const auto hear = [&](bool first) {
    auto heard = read_text(way, first);
    if (!heard) return false;
    if (const auto why = parse_refusal(*heard)) {
      answer.why = *why;
      return false;
    }
    answer.heard.push_back(std::move(*heard));
    return true;
  };
  for (const auto& text : texts) {
    const bool first = answer.heard.empty();
    const auto said = framed_text(text(first ? "" : answer.heard.back()));
    if (!write_bytes(way, first ? raw_magic + said : said) || !hear(first)) break;
  }
  if (texts.empty()) hear(true);
  if (!texts.empty() && answer.heard.size() == texts.size()) answer.hello = answer.heard.back();
  if (meanwhile && !answer.hello.empty()) meanwhile();
  return answer;
}

/// Says nothing if the two sides don't agree on TLS.
raw_answer talk_secretly(tcp::socket& socket, const raw_security& by,
                         const std::vector<raw_text>& texts,
                         const std::function<void()>& meanwhile) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_verify_mode(asio::ssl::verify_peer);
  context.add_certificate_authority(asio::buffer(by.authority));
  if (!by.certificate.empty()) {
    context.use_certificate_chain(asio::buffer(by.certificate));
    context.use_private_key(asio::buffer(by.key), asio::ssl::context::pem);
  }
  asio::ssl::stream<tcp::socket&> way(socket, context);
  boost::system::error_code error;
  way.handshake(asio::ssl::stream_base::client, error);
  if (error) return {.hello = {}, .why = error.message(), .heard = {}};
  return talk_over(way, texts, meanwhile);
}

}  // namespace

raw_answer say_in_turn(const std::string& address, const std::optional<raw_security>& security,
                       const std::vector<raw_text>& texts, const std::function<void()>& meanwhile) {
  const auto at = parse_host_and_port(address).value();
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::make_address(at.host), static_cast<std::uint16_t>(std::stoi(at.port))});
  return security ? talk_secretly(socket, *security, texts, meanwhile)
                  : talk_over(socket, texts, meanwhile);
}

raw_answer say_hello(const std::string& address, const std::optional<raw_security>& security,
                     const std::optional<std::string>& hello) {
  std::vector<raw_text> texts;
  if (hello) texts.push_back([&](const std::string&) { return *hello; });
  return say_in_turn(address, security, texts);
}

raw_answer join_knowing(const join_secret& secret, const std::string& address, const hello& who,
                        const std::function<void()>& meanwhile) {
  join_nonces nonces{.caller = random_digits(), .listener = {}};
  const auto challenge = [&](const std::string&) {
    return to_text(join_challenge{.nonce = nonces.caller, .proof = {}});
  };
  const auto proven_hello = [&](const std::string& heard) {
    nonces.listener = parse_challenge(heard).nonce;
    auto said = who;
    said.proof = secret.proof(prover::caller, nonces);
    return to_text(said);
  };
  return say_in_turn(address, std::nullopt, {challenge, proven_hello}, meanwhile);
}

}  // namespace troupe::detail::testing
