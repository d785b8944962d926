// Tests that the message of every cause names the cause and a hint.
#include "tbench/results/write_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace tbench::results {
namespace {

TEST(WriteErrorTest, NamesActionPathCauseAndRemedy) {
  const WriteError error{"write", "page.html", ENOSPC};
  EXPECT_STREQ(error.what(),
               "cannot write 'page.html': No space left on device. Free some space there, or choose another folder.");
  EXPECT_EQ(error.code().value(), ENOSPC);
}

TEST(WriteErrorTest, EveryCauseHasItsOwnRemedy) {
  std::set<std::string_view> remedies;
  const int causes[]{ENOSPC,       EDQUOT, EFBIG,  EROFS, EACCES, ENOENT, EISDIR,
                     ENAMETOOLONG, ELOOP,  EMFILE, EBADF, EPIPE,  EIO};
  for (const int error : causes) {
    const std::string_view remedy = write_remedy(error);
    EXPECT_THAT(remedy, testing::EndsWith("."));
    EXPECT_TRUE(remedies.insert(remedy).second) << remedy;
  }
  EXPECT_EQ(write_remedy(EPERM), write_remedy(EACCES));
  EXPECT_EQ(write_remedy(ENOTDIR), write_remedy(ENOENT));
  EXPECT_EQ(remedies.count(write_remedy(EDOM)), 0U) << "what nobody foresaw";
}

}  // namespace
}  // namespace tbench::results
