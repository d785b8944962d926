// What the tests of single operations share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tbench/model/operation.hpp"

namespace tbench::model {

/// The operation, built, verified and launched once. The test fails if this machine cannot run it or its result is
/// wrong.
inline std::unique_ptr<Operation> verified(std::unique_ptr<Operation> operation) {
  EXPECT_EQ(operation->unsupported_reason(), std::nullopt);
  operation->build();
  const Verification verdict = operation->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  operation->launch();
  return operation;
}

}  // namespace tbench::model
