#include "tbench/history/result_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"

namespace tbench::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ResultFolder, TellsResultsFromOtherFilesByTheirFirstBytes) {
  const support::TemporaryFolder folder;
  for (const char* name : {"b", "null", "confirm", "heartbeat"}) std::filesystem::create_directory(folder.file(name));
  const std::string begin = "\n {\n\"context\": ";
  support::write_text(folder.file("b/a.json"), begin);
  support::write_text(folder.file("mark.json"), "\xEF\xBB\xBF" + begin);
  support::write_text(folder.file("packed.json"), results::pack(begin));
  support::write_text(folder.file("torn.json.gz"), results::pack(begin).substr(0, 12));
  for (const char* name : {"null/a.json", "confirm/a.json", "heartbeat/a.json", "a.txt"}) {
    support::write_text(folder.file(name), begin);
  }
  support::write_text(folder.file("other.json.gz"), "{}");
  support::write_text(folder.file("spaces.json"), results::pack(std::string(1'000'000, ' ')));
  const ResultFolder found = result_folder(folder.path());
  EXPECT_THAT(found.results, ElementsAre(folder.file("b/a.json"), folder.file("mark.json"), folder.file("packed.json"),
                                         folder.file("torn.json.gz")));
  EXPECT_THAT(found.others, ElementsAre(folder.file("other.json.gz"), folder.file("spaces.json")));
}

TEST(ResultFolder, WithoutResultsIsRefused) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("other.json"), "{}");
  EXPECT_THAT([&] { static_cast<void>(result_folder(folder.path())); },
              ThrowsMessage<UsageError>(HasSubstr("': no results here")));
  EXPECT_THAT([&] { static_cast<void>(result_folder(folder.file("none"))); },
              ThrowsMessage<UsageError>(HasSubstr("No such file or directory; give a folder")));
}

}  // namespace
}  // namespace tbench::history
