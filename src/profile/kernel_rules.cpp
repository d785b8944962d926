#include "tbench/profile/kernel_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "profile/rule_source.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::profile {
namespace {

constexpr std::string_view kBlank = " \t";

std::vector<std::string> class_names() {
  const auto& names = EnumNames<KernelClass>::kNames;
  return {names.begin(), names.end()};
}

struct Line {
  const std::string& origin;
  std::size_t number;  // from 1
  std::string_view text;

  [[noreturn]] void fail(std::size_t position, const std::string& problem) const {
    throw UsageError{fmt::format("'{}', line {}, column {}: {}", origin, number, position + 1, problem)};
  }
};

KernelClass class_of(const Line& line, std::size_t begin, std::size_t end) {
  const std::string name{line.text.substr(begin, end - begin)};
  if (const auto known = parse_enum<KernelClass>(name)) return *known;
  const std::vector<std::string> names = class_names();
  line.fail(begin, with_suggestion(fmt::format("'{}' is not a class of kernels", name), name, names, "classes"));
}

void compile(const Line& line, std::size_t position, const std::string& expression, regex_t& compiled) {
  const auto refuse = [&](std::size_t where, const std::string& problem) {
    line.fail(position + where, fmt::format("'{}' is not a rule: {}", expression, problem));
  };
  if (const auto error = check_expression(expression)) refuse(error->position, error->problem);
  const int code = ::regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code == 0) return;
  std::string message(256, '\0');
  message.resize(::regerror(code, &compiled, message.data(), message.size()) - 1);
  refuse(bad_bracket(expression), message + "; correct what stands there");
}

}  // namespace

void KernelRules::Free::operator()(regex_t* expression) const {
  ::regfree(expression);
  delete expression;
}

const KernelRules& KernelRules::built_in() {
  static const KernelRules kRules = [] {
    const EmbeddedFile& file = kernel_rule_files().front();
    return parse(file.content, std::string{file.name});
  }();
  return kRules;
}

KernelRules KernelRules::parse(std::string_view text, const std::string& origin) {
  if (text.find('\0') != std::string_view::npos) {
    throw UsageError{
        fmt::format("'{}' is not a text file; give rules, a class and a regular expression per line", origin)};
  }
  KernelRules rules;
  std::size_t number = 0;
  for (const std::string& whole : split(text, '\n')) {
    const Line line{origin, ++number, std::string_view{whole}.substr(0, whole.find_last_not_of(" \t\r") + 1)};
    const std::size_t begin = line.text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos || line.text[begin] == '#') continue;
    const std::size_t end = std::min(line.text.find_first_of(kBlank, begin), line.text.size());
    const KernelClass kernel_class = class_of(line, begin, end);
    const std::size_t position = line.text.find_first_not_of(kBlank, end);
    if (position == std::string_view::npos) {
      line.fail(end, fmt::format("class '{0}' has no expression; write '{0} EXPRESSION'", to_string(kernel_class)));
    }
    auto compiled = std::make_unique<regex_t>();
    compile(line, position, std::string{line.text.substr(position)}, *compiled);
    rules.rules_.push_back({kernel_class, std::unique_ptr<regex_t, Free>{compiled.release()}});
  }
  if (rules.rules_.empty()) {
    throw UsageError{fmt::format("'{}' has no rule; give a class and a regular expression per line", origin)};
  }
  return rules;
}

KernelRules KernelRules::read(const std::string& path) {
  std::string text;
  try {
    text = results::read_whole_file(path);
  } catch (const std::system_error& error) {
    throw UsageError{fmt::format("{}; give a file of rules, a class and a regular expression per line", error.what())};
  }
  return parse(text, path);
}

KernelClass KernelRules::classify(const std::string& name) const {
  const std::string demangled = demangled_name(name);
  for (const Rule& rule : rules_) {
    if (::regexec(rule.expression.get(), demangled.c_str(), 0, nullptr, 0) == 0) return rule.kernel_class;
  }
  return KernelClass::kOther;
}

KernelClass KernelClassifier::operator()(const std::string& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  return known_.emplace(name, rules_.classify(name)).first->second;
}

}  // namespace tbench::profile
