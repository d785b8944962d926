// The faults that tests can inject into the kernels of a fused step (step_fault.cuh), and the selection of a fault on
// the host.
#pragma once

namespace tbench::kernels {

/// Plausible mistakes. Each comment says how the kernel behaves with the fault.
enum class InjectedStepFault {
  kNone,
  // adamw
  kAdamWStep,              // the bias corrections are those for the next step
  kAdamWSecondCorrection,  // the second moment's bias is not corrected
  kAdamWOldMoment,         // the parameter moves by the first moment before its update
  kAdamWPlainGradient,     // the second moment takes the gradient, not its square
  kAdamWDecay,             // weights do not decay
  kAdamWLastChunk,         // the last chunk of a tensor with several chunks is not updated
  kAdamWLastElement,       // a chunk without vectors ends one element early
  kAdamWStaleCopy,         // the copy has the parameter before its update
  // norm, forward
  kNormEpsilon,       // epsilon is multiplied by a hundred
  kNormResidual,      // the branch is not added
  kNormBranchRow,     // the branch's row is the next one
  kNormLastVector,    // the row's last vector is not in the sum of squares
  kNormPaddedWidth,   // the mean is over the threads' elements instead of the row's
  kNormWeightColumn,  // the weights belong to the next vector
  kNormUnwrittenSum,  // the sum's last vector is not written
  kNormSlot,          // every row is read from the first slot
  kNormNoWait,        // a race: slots are read before the copies have arrived
  kNormBarrier,       // a race: the row's partial sums are read without a barrier
  // norm, backward
  kNormPast,             // the gradient that bypasses the norm is not added
  kNormMean,             // the term with the mean is missing
  kNormRstdRow,          // rstd belongs to the next row
  kNormBackwardSlot,     // every row is read from the first slot
  kNormDweightSlope,     // the weight's gradient uses the product with the weight
  kNormGroupSum,         // the last group's sums are missing in its CTA's share
  kNormLastShare,        // the last CTA's share is not added
  kNormStaleShares,      // a race: shares are added before all CTAs have stored theirs
  kNormLastColumns,      // the last columns of the weight's gradient are not written
  kNormUnwrittenBranch,  // the branch's gradient misses each row's last vector
  // swiglu
  kSwigluNoGate,      // forward: the factor gate is missing, only its logistic function remains
  kSwigluLastVector,  // forward: the last vector is not written
  kSwigluHalfRow,     // forward: up is read one vector early
  kSwigluSlope,       // backward: the slope of the logistic function itself is missing
  kSwigluDup,         // backward: dup lacks the factor gate
  kSwigluH,           // backward: the second h lacks up
  // cross entropy
  kEntropyTarget,      // 1 is subtracted one column late
  kEntropyTargetRow,   // the target belongs to the next row
  kEntropyLastVector,  // the row's last vector is not in the sum
  kEntropyRescale,     // sums of warps are added as if they had the same maximum
  kEntropyLoss,        // the loss misses the target's logit
  kEntropyBarrier,     // a race: sums of warps are read without a barrier
  // rope
  kRopeSign,      // backward rotates forward
  kRopePosition,  // angles belong to the preceding position
  kRopeKeys,      // keys are not rotated
  kRopeLastHead,  // the last head is not written
  kRopePair,      // the second element of a pair rotates by the negative sine
  // norms of q and k with rope
  kQkNormWeightOfQ,     // k's norm has the weight of q's
  kQkNormPosition,      // angles belong to the preceding position
  kQkNormLastHead,      // forward: the last head of k is not written
  kQkNormSign,          // backward rotates forward
  kQkNormMean,          // backward: the term with the mean is missing
  kQkNormDweightSlope,  // backward: the weight's gradient uses the product with the weight
  kQkNormLastShare,     // backward: the last CTA's share is not added
  // embedding
  kEmbeddingRow,         // forward: a row's first vector belongs to the next token
  kEmbeddingLastVector,  // forward: a row's last vector is not written
  kEmbeddingStored,      // backward: a token's gradients replace each other
  kEmbeddingNotCleared,  // backward: sums start from the old contents
  kEmbeddingToken,       // backward: gradients go to the preceding token
  kEmbeddingNotAdded,    // backward to a table with a gradient: nothing is added
  kEmbeddingCleared,     // backward to a table with a gradient: the table is cleared first
};

/// Returns the fault that launches inject from now on, which tests assign. Only the test library defines this function.
[[nodiscard]] InjectedStepFault& step_fault();

}  // namespace tbench::kernels
