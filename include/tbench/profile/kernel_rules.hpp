// Maps a kernel's name to its class, by an ordered list of regular expressions: src/profile/kernel_rules.txt, or a file
// of the user.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tbench/profile/kernel_class.hpp"

namespace tbench::profile {

/// One rule a line: a class, spaces, and an extended regular expression (POSIX) that reaches to the line's end. Empty
/// lines and those that begin with '#' are skipped. Counted repetitions and back-references are no part of it.
class KernelRules {
 public:
  /// Returns the rules that the program was built with.
  [[nodiscard]] static const KernelRules& built_in();

  /// @param origin  what messages call the text: the file's path
  /// @throws        UsageError  with origin, line and column, the expression and the remedy
  [[nodiscard]] static KernelRules parse(std::string_view text, const std::string& origin);

  /// @throws  UsageError  as parse; or naming the file that cannot be read
  [[nodiscard]] static KernelRules read(const std::string& path);

  /// The class of the first rule whose expression is found anywhere in the name; kOther if none is. Takes tens of
  /// microseconds: ask once per distinct name. Safe in several threads at once.
  /// @param name  mangled or demangled, whole: with its template arguments
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
