// What is printed to a C stream, as text.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace tbench::report {

/// What `print` prints to a file.
template <class Print>
std::string printed(Print print) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  print(file.get());
  std::rewind(file.get());
  std::string text(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

}  // namespace tbench::report
