// Maps a kernel's name to its class by an ordered list of regular expressions, from src/profile/kernel_rules.txt or a
// file of the user.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tbench/profile/kernel_class.hpp"

namespace tbench::profile {

/// An ordered list of rules, one per line: a class, spaces, and an extended regular expression (POSIX) up to the end of
/// the line. Empty lines and lines that begin with '#' are skipped. Counted repetitions and back-references are not
/// supported.
class KernelRules {
 public:
  /// Returns the rules that the program was built with.
  [[nodiscard]] static const KernelRules& built_in();

  /// Parses the text of a rules file.
  /// @param origin  the name of the text in messages, such as the file's path
  /// @throws        UsageError  with origin, line and column, the expression and the remedy
  [[nodiscard]] static KernelRules parse(std::string_view text, const std::string& origin);

  /// Reads and parses a rules file.
  /// @throws  UsageError  as in parse, or naming the file if it cannot be read
  [[nodiscard]] static KernelRules read(const std::string& path);

  /// Returns the class of the first rule whose expression matches anywhere in the name, or kOther if none does. Takes
  /// tens of microseconds, so ask once per distinct name. Several threads may call it at once.
  /// @param name  the full name with its template arguments, mangled or demangled
  [[nodiscard]] KernelClass classify(const std::string& name) const;

  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  struct Free {
    void operator()(regex_t* expression) const;
  };
  struct Rule {
    KernelClass kernel_class;
    std::unique_ptr<regex_t, Free> expression;
  };
  std::vector<Rule> rules_;
};

/// Asks the rules once for each distinct name.
class KernelClassifier {
 public:
  /// @param rules  must outlive the classifier
  explicit KernelClassifier(const KernelRules& rules) : rules_{rules} {}

  [[nodiscard]] KernelClass operator()(const std::string& name);

 private:
  const KernelRules& rules_;
  std::unordered_map<std::string, KernelClass> known_;
};

}  // namespace tbench::profile
