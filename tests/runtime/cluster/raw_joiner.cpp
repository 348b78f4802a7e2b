#include "tests/runtime/cluster/raw_joiner.hpp"

#include <grpcpp/grpcpp.h>

#include <future>

#include <grpcpp/generic/generic_stub.h>

namespace troupe::detail::testing {

namespace {

class caller : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  caller(const std::shared_ptr<grpc::Channel>& channel, const std::optional<std::string>& hello)
      : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    stub_.PrepareBidiStreamingCall(&context_, "/troupe.link.v1/stream", {}, this);
    StartRead(&heard_);
    if (hello) {
      const grpc::Slice slice(*hello);
      said_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&said_);
    }
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    std::vector<grpc::Slice> slices;
    (void)heard_.Dump(&slices);
    for (const auto& s : slices) {
      answer_.hello.append(reinterpret_cast<const char*>(s.begin()), s.size());
    }
    context_.TryCancel();
  }
  void OnDone(const grpc::Status& status) override {
    answer_.why = status.error_message();
    ended_.set_value(answer_);
  }
  raw_answer wait() { return ended_.get_future().get(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer said_, heard_;
  raw_answer answer_;
  std::promise<raw_answer> ended_;
};

}  // namespace

raw_answer say_hello(const std::string& address, const std::optional<raw_security>& security,
                     const std::optional<std::string>& hello) {
  auto credentials = grpc::InsecureChannelCredentials();
  if (security) {
    credentials = grpc::SslCredentials({security->authority, security->key, security->certificate});
  }
  const auto channel = grpc::CreateChannel(address, credentials);
  caller one(channel, hello);
  return one.wait();
}

}  // namespace troupe::detail::testing
