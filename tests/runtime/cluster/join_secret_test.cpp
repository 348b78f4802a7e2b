// Plain text on loopback: both sides prove that they know a secret before they say who they are.

#include "runtime/cluster/join_secret.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "runtime/cluster/build_id.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/cluster/raw_joiner.hpp"
#include "tests/runtime/cluster/raw_listener.hpp"

namespace troupe::detail::testing {
namespace {

namespace fs = std::filesystem;

const std::string some_digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const join_nonces some_nonces{.caller = std::string(64, 'a'), .listener = std::string(64, 'b')};

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

fs::path write_secret(const fs::path& file, const std::string& text, mode_t mode = 0600) {
  std::ofstream(file) << text;
  REQUIRE(chmod(file.c_str(), mode) == 0);
  return file;
}

hello some_node(const std::string& name) {
  return {.build = build_id(), .self = incarnation::random(), .name = name, .role = "node"};
}

// ---- the file -----------------------------------------------------------------------------------

TEST_CASE("join secret: whoever comes first makes it, for one user alone") {
  const temporary_folder folder;
  const auto file = folder.path / "state" / "troupe" / "join.secret";
  const join_secret made(file);
  CHECK(made.file() == file);
  CHECK(mode_of(file) == 0600);
  CHECK(mode_of(file.parent_path()) == 0700);
  CHECK(mode_of(folder.path / "state") == 0700);
  CHECK(read_text(file).size() == 65);
  CHECK(count_entries(file.parent_path()) == 1);
  const join_secret read(file), other(folder.path / "other");
  CHECK(read.proof(prover::caller, some_nonces) == made.proof(prover::caller, some_nonces));
  CHECK(other.proof(prover::caller, some_nonces) != made.proof(prover::caller, some_nonces));
}

TEST_CASE("join secret: of many that begin at once all have the same one") {
  const temporary_folder folder;
  const auto file = folder.path / "troupe" / "join.secret";
  std::vector<std::string> proofs(16);
  std::vector<std::thread> threads;
  for (auto& proof : proofs) {
    threads.emplace_back([&] { proof = join_secret(file).proof(prover::listener, some_nonces); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& proof : proofs) CHECK(proof == proofs[0]);
  CHECK(count_entries(file.parent_path()) == 1);
}

TEST_CASE("join secret: a file that will not do is refused by its name") {
  const temporary_folder folder;
  const auto file = folder.path / "join.secret";
  const auto refused = [&](const std::string& why) {
    CHECK_THROWS_WITH(join_secret(file), has_text(file.string() + ": expected the join secret") &&
                                             has_text("mode 0600") && has_text(why));
  };
  write_secret(file, some_digits + "\n", 0644);
  refused("got mode 0644");
  chmod(file.c_str(), 0620);
  refused("got mode 0620");
  chmod(file.c_str(), 0601);
  refused("got mode 0601");
  chmod(file.c_str(), 0600);
  CHECK_NOTHROW(join_secret(file));
  if (geteuid() == 0) {
    REQUIRE(chown(file.c_str(), 12345, 0) == 0);
    refused("got one of user 12345");
    REQUIRE(chown(file.c_str(), 0, 0) == 0);
  }
  for (const auto& text :
       {std::string(), some_digits.substr(1), some_digits + "0", some_digits + "\n\n",
        some_digits + "\n0", "x" + some_digits.substr(1), std::string(100'000, '0')}) {
    write_secret(file, text);
    refused("got another text of " + std::to_string(text.size()) + " bytes");
  }
  const auto other = write_secret(folder.path / "other", some_digits);
  CHECK_NOTHROW(join_secret(other));
  fs::remove(file);
  fs::create_symlink(other, file);
  refused("got a symbolic link");
  fs::remove(file);
  fs::create_symlink(folder.path / "none", file);
  refused("got a symbolic link");
  fs::remove(file);
  fs::create_directory(file);
  refused("got another kind of file");
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  refused("got another kind of file");
}

TEST_CASE("join secret: where none can be made, what helps is named") {
  const temporary_folder folder;
  const auto file = write_secret(folder.path / "file", "") / "troupe" / "join.secret";
  const auto named = has_text("cannot make the join secret " + file.string() + ": ");
  CHECK_THROWS_WITH(join_secret(file),
                    named && has_text("--join-secret FILE") && has_text("--certs DIR"));
  CHECK_THROWS_WITH(link_server({.join_secret = file}, nullptr), named);
  CHECK_THROWS_WITH(
      link_client({.address = "127.0.0.1:1", .join_secret = file, .name = "gpu-1"}, {}), named);
}

// ---- challenges and proofs ----------------------------------------------------------------------

TEST_CASE("join secret: proofs are those of HMAC-SHA-256, each of one side and one stream") {
  const temporary_folder folder;
  const join_secret secret(write_secret(folder.path / "join.secret", some_digits));
  const auto of_listener = secret.proof(prover::listener, some_nonces);
  const auto of_caller = secret.proof(prover::caller, some_nonces);
  CHECK(of_listener == "653db4482a593fe85e74f638a0d9261ee0c4821e1bd0b7c493cf6a560e8400a8");
  CHECK(of_caller == "bf15886f2a1e9269408568a33d0da8b40f7db86a0a278832f55361ccc1a83589");
  CHECK(secret.is_proof(of_caller, prover::caller, some_nonces));
  CHECK_FALSE(secret.is_proof(of_caller, prover::listener, some_nonces));
  CHECK_FALSE(secret.is_proof(of_caller, prover::caller,
                              {.caller = some_nonces.listener, .listener = some_nonces.caller}));
  CHECK_FALSE(secret.is_proof("", prover::caller, some_nonces));
  CHECK_FALSE(secret.is_proof(of_caller.substr(1), prover::caller, some_nonces));
  CHECK_FALSE(secret.is_proof(of_caller + "0", prover::caller, some_nonces));
}

TEST_CASE("challenge: reads back what it wrote, and names what is wrong") {
  const join_challenge both{.nonce = random_digits(), .proof = random_digits()};
  CHECK(both.nonce != both.proof);
  const auto read = parse_challenge(to_text(both));
  CHECK(read.nonce == both.nonce);
  CHECK(read.proof == both.proof);
  CHECK(parse_challenge(to_text(join_challenge{.nonce = both.nonce, .proof = {}})).proof.empty());
  CHECK_THROWS_WITH(parse_challenge(""), has_text("a JSON object"));
  CHECK_THROWS_WITH(parse_challenge("[1]"), has_text("a JSON object"));
  CHECK_THROWS_WITH(parse_challenge("{}"), has_text("nonce: expected 64 hexadecimal digits"));
  CHECK_THROWS_WITH(parse_challenge(R"({"nonce": 7})"), has_text("nonce"));
  CHECK_THROWS_WITH(parse_challenge(R"({"nonce": ")" + both.nonce.substr(1) + "\"}"),
                    has_text("nonce"));
  CHECK_THROWS_WITH(parse_challenge(R"({"nonce": "g)" + both.nonce.substr(1) + "\"}"),
                    has_text("nonce"));
  CHECK_THROWS_WITH(parse_challenge(R"({"proof": [], "nonce": ")" + both.nonce + "\"}"),
                    has_text("proof"));
}

// ---- who joins ----------------------------------------------------------------------------------

TEST_CASE("join secret: two that know the same one join") {
  const temporary_folder folder;
  const auto file = folder.path / "join.secret";
  controller_side controller({.join_secret = file});
  node_side node(controller.address(), "gpu-1", [&](auto& o) { o.join_secret = file; });
  CHECK(controller.joined.made.take().other.name == "gpu-1");
  CHECK(node.joined.made.take().other.role == "controller");
}

TEST_CASE("join secret: two that know different ones refuse each other") {
  const temporary_folder folder;
  metrics_registry metrics;
  controller_side controller({.join_secret = folder.path / "a", .metrics = &metrics});
  node_side node(controller.address(), "gpu-1", [&](auto& o) {
    o.join_secret = folder.path / "b";
    o.retry_first = 1h;
  });
  CHECK_THAT(node.failures.take(),
             has_text((folder.path / "b").string()) &&
                 has_text("is it another user's controller, or has it another file?"));
  CHECK(are_refused(metrics, "secret", 1));
  CHECK(controller.joined.made.size() == 0);
  CHECK(node.joined.made.size() == 0);
}

TEST_CASE("join secret: a caller without the proof is refused and counted, and holds no name") {
  const temporary_folder folder;
  const join_secret right(folder.path / "right"), wrong(folder.path / "wrong");
  metrics_registry metrics;
  controller_side controller(
      {.join_secret = right.file(), .hello_within = 1s, .metrics = &metrics});
  const auto at = controller.address();
  const auto who = some_node("gpu-1");
  const auto always = [](const std::string& text) {
    return [=](const std::string&) { return text; };
  };
  const auto challenge = always(to_text(join_challenge{.nonce = random_digits(), .proof = {}}));
  const auto with_proof = [&](const std::string& proof) {
    auto said = who;
    said.proof = proof;
    return to_text(said);
  };
  const auto talk = [&](const std::vector<raw_text>& texts) {
    const auto answer = say_in_turn(at, std::nullopt, texts);
    CHECK(answer.hello.empty());
    return answer.why;
  };
  const auto needs_proof = has_text("expected a proof that the node knows");

  CHECK_THAT(talk({challenge, always(to_text(who))}), needs_proof);
  CHECK_THAT(talk({challenge, always(with_proof(random_digits()))}), needs_proof);
  CHECK_THAT(
      talk({challenge,
            [&](const std::string& heard) { return with_proof(parse_challenge(heard).proof); }}),
      needs_proof);
  CHECK(are_refused(metrics, "secret", 3));
  const auto knows_another = join_knowing(wrong, at, who);
  CHECK(knows_another.hello.empty());
  CHECK_THAT(knows_another.why, needs_proof);
  CHECK(are_refused(metrics, "secret", 4));

  // Says once more what somebody else has said who was admitted.
  std::vector<std::string> overheard;
  join_nonces nonces{.caller = random_digits(), .listener = {}};
  const auto joined = say_in_turn(
      at, std::nullopt,
      {[&](const std::string&) {
         overheard.push_back(to_text(join_challenge{.nonce = nonces.caller, .proof = {}}));
         return overheard.back();
       },
       [&](const std::string& heard) {
         nonces.listener = parse_challenge(heard).nonce;
         overheard.push_back(with_proof(right.proof(prover::caller, nonces)));
         return overheard.back();
       }});
  CHECK_FALSE(joined.hello.empty());
  CHECK_NOTHROW(controller.joined.made.take().heard->ends.take());
  CHECK_THAT(talk({always(overheard[0]), always(overheard[1])}), needs_proof);
  CHECK(are_refused(metrics, "secret", 5));

  CHECK_THAT(talk({always(to_text(who))}), has_text("challenge: nonce"));
  CHECK_THAT(talk({always("garbage")}), has_text("challenge: expected a JSON object"));
  CHECK_THAT(talk({challenge, always("garbage")}), has_text("hello: text"));
  CHECK_THAT(talk({challenge, always(std::string(9000, '{'))}),
             has_text("a text of 9000 bytes before the link: expected at most 4096"));
  CHECK(are_refused(metrics, "garbage", 4));

  talk({});
  CHECK(are_refused(metrics, "silent", 1));
  CHECK(controller.joined.made.size() == 0);
  node_side node(at, "gpu-1", [&](auto& o) { o.join_secret = right.file(); });
  CHECK(controller.joined.made.take().other.name == "gpu-1");
}

TEST_CASE("join secret: a caller that is silent after its challenge is ended in time") {
  const temporary_folder folder;
  metrics_registry metrics;
  controller_side controller(
      {.join_secret = folder.path / "right", .hello_within = 300ms, .metrics = &metrics});
  const auto challenge = to_text(join_challenge{.nonce = random_digits(), .proof = {}});
  const auto wait_for_end = [&](const std::string&) -> std::string {
    CHECK(are_refused(metrics, "silent", 1));
    return "too late";
  };
  const auto answer = say_in_turn(controller.address(), std::nullopt,
                                  {[&](const std::string&) { return challenge; }, wait_for_end});
  CHECK(answer.heard.size() == 1);
  CHECK(answer.hello.empty());
}

TEST_CASE("join secret: a listener without the proof hears nothing about the node") {
  const temporary_folder folder;
  const join_secret right(folder.path / "right"), wrong(folder.path / "wrong");
  const auto refused = [&](const std::function<std::string(const join_nonces&)>& proof) {
    raw_listener listener([&](const std::string& heard) {
      const join_nonces nonces{.caller = parse_challenge(heard).nonce, .listener = random_digits()};
      return to_text(join_challenge{.nonce = nonces.listener, .proof = proof(nonces)});
    });
    node_side node(listener.address(), "gpu-1", [&](auto& o) {
      o.join_secret = right.file();
      o.retry_first = 1h;
    });
    const auto why = node.failures.take();
    const auto said = listener.heard();
    CHECK(node.joined.made.size() == 0);
    CHECK(said.size() == 1);
    CHECK(said[0].find("gpu-1") == std::string::npos);
    return why;
  };
  const auto names_file = has_text("the secret of " + right.file().string());
  CHECK_THAT(refused([](const auto&) { return ""; }), names_file);
  CHECK_THAT(refused([](const auto&) { return random_digits(); }), names_file);
  CHECK_THAT(refused([&](const auto& n) { return wrong.proof(prover::listener, n); }), names_file);
  CHECK_THAT(refused([&](const auto& n) { return right.proof(prover::caller, n); }), names_file);

  // One that says its hello at once.
  raw_listener old([](const std::string&) { return to_text(some_node("head")); });
  node_side node(old.address(), "gpu-1", [&](auto& o) { o.join_secret = right.file(); });
  CHECK_THAT(node.failures.take(), has_text("challenge: nonce"));
}

}  // namespace
}  // namespace troupe::detail::testing
