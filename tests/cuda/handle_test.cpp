// Tests the owner of C handles with a fake C library that counts calls. It needs no GPU.
#include "tbench/cuda/handle.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace fake_library {

struct Status {
  int code;
};
using Handle = int;

std::vector<Handle> destroyed;
std::vector<int> logged;

Status destroy(Handle handle) {
  destroyed.push_back(handle);
  return {handle == 13 ? 1 : 0};
}

void log_failure(Status status) noexcept {
  if (status.code != 0) {
    logged.push_back(status.code);
  }
}

}  // namespace fake_library

namespace tbench::cuda {
namespace {

using fake_library::destroyed;
using Owner = UniqueHandle<fake_library::Handle, &fake_library::destroy>;

static_assert(!std::is_copy_constructible_v<Owner>);
static_assert(std::is_nothrow_move_constructible_v<Owner>);
static_assert(std::is_nothrow_destructible_v<Owner>);
static_assert(!std::is_convertible_v<fake_library::Handle, Owner>);

class UniqueHandleTest : public testing::Test {
 protected:
  UniqueHandleTest() {
    destroyed.clear();
    fake_library::logged.clear();
  }
};

TEST_F(UniqueHandleTest, DestroysItsHandleOnce) {
  {
    const Owner owner{7};
    EXPECT_EQ(owner.get(), 7);
    EXPECT_TRUE(destroyed.empty());
  }
  EXPECT_EQ(destroyed, std::vector{7});
}

TEST_F(UniqueHandleTest, ANullHandleIsNotDestroyed) {
  { const Owner owner; }
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(UniqueHandleTest, AMoveLeavesNull) {
  Owner first{7};
  {
    const Owner second{std::move(first)};
    EXPECT_EQ(second.get(), 7);
    EXPECT_EQ(first.get(), 0);  // this test checks the moved-from state
  }
  EXPECT_EQ(destroyed, std::vector{7});
}

TEST_F(UniqueHandleTest, AssigningDestroysWhatWasHeld) {
  Owner owner{7};
  owner = Owner{8};
  EXPECT_EQ(destroyed, std::vector{7});
  EXPECT_EQ(owner.get(), 8);
  Owner& self = owner;
  owner = std::move(self);
  EXPECT_EQ(owner.get(), 8);
  EXPECT_EQ(destroyed, std::vector{7});
}

TEST_F(UniqueHandleTest, AFailureIsLoggedAndNotThrown) {
  { const Owner owner{13}; }
  EXPECT_EQ(fake_library::logged, std::vector{1});
}

}  // namespace
}  // namespace tbench::cuda
