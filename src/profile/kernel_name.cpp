#include "tbench/profile/kernel_name.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace tbench::profile {
namespace {

constexpr std::string_view kMangledPrefix = "_Z";
constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kUnnamed = "<unnamed>";  // the same, as NVIDIA's demangler has it
constexpr std::string_view kLambda = "[lambda";     // and a lambda
constexpr std::string_view kSpacedCall = " ()";     // and a call operator
constexpr std::string_view kOperator = "::operator";
constexpr std::string_view kConst = " const";
constexpr std::string_view kOpening = "<({[";
constexpr std::string_view kClosing = ">)}]";

/// Where the text goes on after the bracket that closes the one at `open`; its end if none does. A '<' that a bracket
/// of another kind finds open was a comparison.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
  std::string opened;
  for (std::size_t i = open; i < text.size();) {
    if (text.substr(i).starts_with(kOperator)) {
      i = text.find_first_not_of("<>-=", i + kOperator.size());
      continue;
    }
    if (text.substr(i).starts_with("->")) {
      i += 2;
      continue;
    }
    const char c = text[i++];
    if (kOpening.find(c) != std::string_view::npos) opened.push_back(c);
    if (const std::size_t kind = kClosing.find(c); kind != std::string_view::npos) {
      while (c != '>' && opened.ends_with('<')) opened.pop_back();
      if (opened.ends_with(kOpening[kind])) opened.pop_back();
    }
    if (opened.empty()) return i;
  }
  return text.size();
}

/// Behind the parameters at `open`, and const, if a name goes on there: those of a function that encloses it. Else the
/// text's end.
std::size_t behind_parameters(std::string_view text, std::size_t open) {
  std::size_t end = behind_bracket(text, open);
  if (text.substr(end).starts_with(kConst)) end += kConst.size();
  return text.substr(end).starts_with("::") ? end : text.size();
}

std::string qualified_name(std::string_view text) {
  std::string name;
  const auto copy_until = [&](std::size_t begin, std::size_t end) {
    name += text.substr(begin, end - begin);
    return end;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(kAnonymous)) {
      i = copy_until(i, i + kAnonymous.size());
    } else if (rest.starts_with(kUnnamed)) {
      name += kAnonymous;
      i += kUnnamed.size();
    } else if (rest.starts_with("()") && name.ends_with(kOperator)) {
      i = copy_until(i, i + 2);
    } else if (rest.starts_with(kSpacedCall) && name.ends_with(kOperator)) {
      name += "()";
      i += kSpacedCall.size();
    } else if (rest.front() == '{' || rest.starts_with(kLambda)) {
      i = copy_until(i, behind_bracket(text, i));
    } else if (rest.front() == '<') {
      i = behind_bracket(text, i);
    } else if (rest.front() == '(') {
      i = behind_parameters(text, i);
    } else if (rest.front() == ' ') {  // what went before was the return type
      name.clear();
      ++i;
    } else {
      i = copy_until(i, i + 1);
    }
  }
  return name;
}

}  // namespace

/// Without the prefix the demangler would read "f" as the type float.
std::string demangled_name(const std::string& symbol) {
  if (!symbol.starts_with(kMangledPrefix)) return symbol;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                         &std::free};
  return text ? text.get() : symbol;
}

std::string kernel_name(const std::string& symbol) {
  const std::string text = demangled_name(symbol);
  std::string name = qualified_name(text);
  return name.empty() ? text : name;
}

}  // namespace tbench::profile
