#include "tests/runtime/cluster/raw_joiner.hpp"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace troupe::detail::testing {

namespace {

/// One operation at a time.
class caller {
 public:
  explicit caller(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    call_ = stub_.PrepareCall(&context_, "/troupe.link.v1/stream", &queue_);
    call_->StartCall(this);
    wait();
  }
  ~caller() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  bool say(const std::string& text) {
    const grpc::Slice slice(text);
    call_->Write(grpc::ByteBuffer(&slice, 1), this);
    return wait();
  }
  std::optional<std::string> hear() {
    grpc::ByteBuffer buffer;
    call_->Read(&buffer, this);
    if (!wait()) return {};
    std::vector<grpc::Slice> slices;
    (void)buffer.Dump(&slices);
    std::string text;
    for (const auto& s : slices) text.append(reinterpret_cast<const char*>(s.begin()), s.size());
    return text;
  }
  void go() { context_.TryCancel(); }
  std::string why_it_ended() {
    grpc::Status status;
    call_->Finish(&status, this);
    wait();
    return status.error_message();
  }

 private:
  /// Whether the operation under way succeeds.
  bool wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

}  // namespace

raw_answer say_in_turn(const std::string& address, const std::optional<raw_security>& security,
                       const std::vector<raw_text>& texts) {
  auto credentials = grpc::InsecureChannelCredentials();
  if (security) {
    credentials = grpc::SslCredentials({security->authority, security->key, security->certificate});
  }
  caller one(grpc::CreateChannel(address, credentials));
  raw_answer answer;
  for (const auto& text : texts) {
    if (!one.say(text(answer.heard.empty() ? "" : answer.heard.back()))) break;
    const auto heard = one.hear();
    if (!heard) break;
    answer.heard.push_back(*heard);
  }
  if (texts.empty()) one.hear();
  if (!texts.empty() && answer.heard.size() == texts.size()) {
    answer.hello = answer.heard.back();
    one.go();
  }
  answer.why = one.why_it_ended();
  return answer;
}

raw_answer say_hello(const std::string& address, const std::optional<raw_security>& security,
                     const std::optional<std::string>& hello) {
  std::vector<raw_text> texts;
  if (hello) texts.push_back([&](const std::string&) { return *hello; });
  return say_in_turn(address, security, texts);
}

raw_answer join_knowing(const join_secret& secret, const std::string& address, const hello& who) {
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
  return say_in_turn(address, std::nullopt, {challenge, proven_hello});
}

}  // namespace troupe::detail::testing
