#include "tbench/process/supervisor.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "process/worker_connection.hpp"
#include "tbench/core/error.hpp"

namespace tbench::process {
namespace {

using Event = WorkerConnection::Event;

constexpr Seconds kStopInterval{0.1};
constexpr Seconds kAtOnce{0.0};
constexpr Seconds kForever{std::numeric_limits<double>::infinity()};

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point began) { return {std::chrono::duration<double>(Clock::now() - began).count()}; }

Outcome failed(Outcome::Kind kind, std::string reason) {
  return {.kind = kind, .payload = {}, .reason = std::move(reason), .start = {}};
}

}  // namespace

struct Supervisor::Child {
  explicit Child(const SupervisorOptions& options)
      : connection{{.command = options.command,
                    .executable = options.executable,
                    .echo_stderr = options.echo_stderr,
                    .max_message_bytes = options.max_message_bytes}} {}

  WorkerConnection connection;
  std::string doing{"before saying hello"};
  bool has_answered{};
  bool is_poisoned{};
};

/// The state of a request until it has its outcome.
struct Supervisor::Exchange {
  std::string_view payload;
  const std::function<void(std::string_view)>& on_progress;
  const std::function<bool()>& stop;
  bool was_interrupted{};
  bool may_go_to_a_new_child{};  // the child died, perhaps of an earlier request
  Seconds start;                 // see Outcome::start
};

Supervisor::Supervisor(SupervisorOptions options) : options_{std::move(options)} {}

Supervisor::~Supervisor() {
  try {
    stop_child();
    child_ = std::move(standby_);
    stop_child();
  } catch (const std::exception& error) {
    fmt::print(stderr, "ending the worker process: {}\n", error.what());
  }
}

const std::string& Supervisor::hello(const std::function<bool()>& stop) {
  if (!hello_ && !start(stop)) throw std::runtime_error{"interrupted while the worker process started"};
  return *hello_;
}

Outcome Supervisor::request(std::string_view payload, const std::function<void(std::string_view)>& on_progress,
                            const std::function<bool()>& stop) {
  try {
    Exchange exchange{.payload = payload, .on_progress = on_progress, .stop = stop, .start = {}};
    Outcome outcome = attempt(exchange);
    if (exchange.may_go_to_a_new_child) outcome = attempt(exchange);
    outcome.start = exchange.start + std::exchange(renewal_, Seconds{});
    if (options_.fresh_child_per_request) stop_child();
    return outcome;
  } catch (...) {
    // The child may be in the middle of the request: its answer must not be taken for the answer to the next one.
    child_.reset();
    throw;
  }
}

std::optional<std::string> Supervisor::ask(std::string_view question, const std::function<bool()>& stop) {
  const bool had_answered = child_ && child_->has_answered;
  Outcome outcome = request(
      question, [](std::string_view) {}, stop);
  if (outcome.kind != Outcome::Kind::kResult) return std::nullopt;
  if (child_) child_->has_answered = had_answered;
  return std::move(outcome.payload);
}

void Supervisor::renew_child() {
  const auto began = Clock::now();
  if (child_ && child_->has_answered) stop_child();
  renewal_ = renewal_ + since(began);
}

void Supervisor::end_children() {
  stop_child();
  standby_.reset();
}

void Supervisor::prepare_child() {
  if (!standby_) standby_ = std::make_unique<Child>(options_);
}

/// Returns the prepared child, or null if there is none or it has ended.
std::unique_ptr<Supervisor::Child> Supervisor::take_standby() {
  std::unique_ptr<Child> standby = std::exchange(standby_, nullptr);
  try {
    if (standby && standby->connection.poll_event(kAtOnce, kForever)) standby.reset();  // it has ended
  } catch (const ProtocolError&) {
    standby.reset();
  }
  return standby;
}

void Supervisor::begin_with(std::unique_ptr<Child> child) {
  child_ = std::move(child);
  child_->connection.send(MessageKind::kBegin, "");
}

/// Begins with a prepared or a new child, and waits for its hello. If a prepared child has ended meanwhile, a new one
/// takes its place.
/// @return  false if `stop` became true first
bool Supervisor::start(const std::function<bool()>& stop) {
  std::unique_ptr<Child> standby = take_standby();
  bool was_prepared = standby != nullptr;
  begin_with(was_prepared ? std::move(standby) : std::make_unique<Child>(options_));
  std::string happened;
  std::optional<std::string> refusal;
  bool was_stopped = false;
  try {
    while (!(was_stopped = stop())) {
      const auto event = child_->connection.poll_event(kStopInterval, options_.start_timeout);
      if (!event) continue;
      if (event->kind == Event::Kind::kSilent) {
        happened = fmt::format("no sign of life for {:g} s", options_.start_timeout.value);
        break;
      }
      if (event->kind == Event::Kind::kClosed) {
        if (!std::exchange(was_prepared, false)) break;
        begin_with(std::make_unique<Child>(options_));
        continue;
      }
      if (event->message.kind == MessageKind::kHello) {
        if (options_.check_hello) options_.check_hello(event->message.payload);
        hello_ = event->message.payload;
        return true;
      }
      if (event->message.kind == MessageKind::kRefused) {
        refusal = event->message.payload;
        break;
      }
      if (event->message.kind != MessageKind::kProgress) throw ProtocolError{"a message before the hello"};
    }
  } catch (const ProtocolError& error) {
    happened = fmt::format("protocol error: {}", error.what());
  }
  const bool ended_by_itself = happened.empty() && !was_stopped;
  const Seconds grace = ended_by_itself ? options_.exit_grace : kAtOnce;
  const std::string reason = finish_child(grace, std::move(happened));
  if (was_stopped) return false;
  if (refusal) throw UsageError{*refusal};
  throw std::runtime_error{fmt::format("the worker process '{}' did not start: {}", options_.command.front(), reason)};
}

/// Makes sure that a child is ready to take the request.
/// @return  false if the request's `stop` became true first
bool Supervisor::make_ready(Exchange& exchange) {
  const auto began = Clock::now();
  if (child_ && !child_is_fit()) stop_child();
  if (exchange.stop()) return false;
  if (child_) return true;
  const bool has_started = start(exchange.stop);
  exchange.start = exchange.start + since(began);
  return has_started;
}

/// Returns whether the child can take another request: it runs, and has sent nothing but progress since its answer.
bool Supervisor::child_is_fit() {
  try {
    while (!child_->is_poisoned) {
      const auto event = child_->connection.poll_event(kAtOnce, kForever);
      if (!event) return true;
      // If the child were used again, an unexpected result would be taken for the answer to the next request.
      if (event->kind != Event::Kind::kMessage || event->message.kind != MessageKind::kProgress) return false;
    }
  } catch (const ProtocolError&) {
  }
  return false;
}

Outcome Supervisor::attempt(Exchange& exchange) {
  exchange.may_go_to_a_new_child = false;
  if (!make_ready(exchange)) return failed(Outcome::Kind::kInterrupted, "interrupted before the case began");
  child_->doing = "before reporting any progress";
  child_->connection.send(MessageKind::kRequest, exchange.payload);
  try {
    return answer(exchange);
  } catch (const ProtocolError& error) {
    return failed(Outcome::Kind::kCrashed, finish_child(kAtOnce, fmt::format("protocol error: {}", error.what())));
  }
}

/// Waits until the request that was sent has its outcome.
Outcome Supervisor::answer(Exchange& exchange) {
  bool may_have_died_earlier = child_->has_answered;
  for (;;) {
    if (!exchange.was_interrupted && exchange.stop()) {
      child_->connection.interrupt();
      exchange.was_interrupted = true;
    }
    if (const std::string excess = excess_memory(); !excess.empty()) {
      return failed(Outcome::Kind::kCrashed, finish_child(kAtOnce, excess));
    }
    auto event = child_->connection.poll_event(kStopInterval, options_.timeout);
    if (!event) continue;
    if (event->kind == Event::Kind::kSilent) {
      const std::string happened = fmt::format("no sign of life for {:g} s", options_.timeout.value);
      return failed(Outcome::Kind::kTimeout, finish_child(kAtOnce, happened));
    }
    if (event->kind == Event::Kind::kClosed) {
      exchange.may_go_to_a_new_child = may_have_died_earlier && !exchange.was_interrupted;
      return conclude_closed(exchange);
    }
    switch (event->message.kind) {
      case MessageKind::kProgress:
        may_have_died_earlier = false;
        child_->doing = "while " + event->message.payload;
        exchange.on_progress(event->message.payload);
        break;
      case MessageKind::kPoisoned:
        child_->is_poisoned = true;
        break;
      case MessageKind::kResult:
        child_->has_answered = true;
        return {
            .kind = Outcome::Kind::kResult, .payload = std::move(event->message.payload), .reason = {}, .start = {}};
      case MessageKind::kBegin:
      case MessageKind::kHello:
      case MessageKind::kRefused:
      case MessageKind::kRequest:
        throw ProtocolError{
            fmt::format("a message of kind '{}' in answer to a request", static_cast<char>(event->message.kind))};
    }
  }
}

/// Returns the reason for ending a child that holds too much memory; empty if it does not.
std::string Supervisor::excess_memory() {
  if (options_.max_memory_bytes == 0) return "";
  const std::int64_t bytes = child_->connection.memory_bytes();
  if (bytes <= options_.max_memory_bytes) return "";
  constexpr double kGibi = 1 << 30;
  return fmt::format("held {:.1f} GiB of the host's memory, more than the {:.1f} GiB that a worker may, and was killed",
                     static_cast<double>(bytes) / kGibi, static_cast<double>(options_.max_memory_bytes) / kGibi);
}

Outcome Supervisor::conclude_closed(const Exchange& exchange) {
  const auto kind = exchange.was_interrupted ? Outcome::Kind::kInterrupted : Outcome::Kind::kCrashed;
  return failed(kind, finish_child(options_.exit_grace, {}));
}

/// Ends the child and describes its end.
/// @param happened  why the child is ended; empty if it ended by itself
/// @return          text for Outcome::reason
std::string Supervisor::finish_child(Seconds grace, std::string happened) {
  const std::unique_ptr<Child> child = std::exchange(child_, nullptr);
  const auto [end, was_killed] = child->connection.close(grace, options_.kill_limit);
  std::string reason = std::move(happened);
  if (reason.empty()) {
    reason = was_killed ? fmt::format("closed its pipe and did not end within {:g} s", grace.value) : to_string(end);
  }
  reason += " " + child->doing;
  if (end.kind == ChildEnd::Kind::kLeftBehind) {
    reason += fmt::format("; it did not end within {:g} s of SIGKILL and was left behind", options_.kill_limit.value);
  }
  const std::string tail = child->connection.stderr_tail();
  if (!tail.empty()) reason += "\n" + tail;
  return reason;
}

void Supervisor::stop_child() {
  if (const auto child = std::exchange(child_, nullptr)) {
    child->connection.close(options_.exit_grace, options_.kill_limit);
  }
}

}  // namespace tbench::process
