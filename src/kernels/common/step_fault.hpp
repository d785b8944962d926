// The faults that can be planted into the kernels of a fused step (step_fault.cuh), and the choice of one on the host.
#pragma once

namespace tbench::kernels {

/// Each is one plausible mistake at one place.
enum class InjectedStepFault {
  kNone,
  // adamw
  kAdamWStep,              // bias corrections of the step after
  kAdamWSecondCorrection,  // the second moment's bias is not corrected
  kAdamWOldMoment,         // the parameter moves by the first moment before its update
  kAdamWPlainGradient,     // the second moment takes the gradient, not its square
  kAdamWDecay,             // weights do not decay
  kAdamWLastChunk,         // the last chunk of a tensor of several is not updated
  kAdamWLastElement,       // a chunk without vectors ends an element early
  kAdamWStaleCopy,         // the copy is of the parameter before its update
  // norm, forward
  kNormEpsilon,       // a hundred times epsilon
  kNormResidual,      // the branch is not added
  kNormBranchRow,     // the branch's row is the next one's
  kNormLastVector,    // the row's last vector is not in the sum of squares
  kNormPaddedWidth,   // the mean is over the threads' elements, not the row's
  kNormWeightColumn,  // weights are those of the next vector
  kNormUnwrittenSum,  // the sum's last vector is not written
  kNormSlot,          // every row is read from the first slot
  kNormNoWait,        // a race: slots are read before the copies are there
  kNormBarrier,       // a race: the row's partial sums are read without a barrier
  // norm, backward
  kNormPast,             // the gradient that passes the norm by is not added
  kNormMean,             // the mean's term is missing
  kNormRstdRow,          // rstd is the next row's
  kNormBackwardSlot,     // every row is read from the first slot
  kNormDweightSlope,     // the weight's gradient is of the product with the weight
  kNormGroupSum,         // the last group's sums are not in its block's share
  kNormLastShare,        // the last block's share is not added
  kNormStaleShares,      // a race: shares are added before all blocks have left theirs
  kNormLastColumns,      // the last columns of the weight's gradient are not written
  kNormUnwrittenBranch,  // the branch's gradient misses each row's last vector
  // swiglu
  kSwigluNoGate,      // forward: the logistic function alone
  kSwigluLastVector,  // forward: the last vector is not written
  kSwigluHalfRow,     // forward: up is read one vector early
  kSwigluSlope,       // backward: the logistic function's own slope is missing
  kSwigluDup,         // backward: dup without the gate
  kSwigluH,           // backward: h once more, without up
  // cross entropy
  kEntropyTarget,      // 1 is subtracted one column late
  kEntropyTargetRow,   // the target is the next row's
  kEntropyLastVector,  // the row's last vector is not in the sum
  kEntropyRescale,     // warps' sums are added as if they had one maximum
  kEntropyLoss,        // the loss misses the target's logit
  kEntropyBarrier,     // a race: warps' sums are read without a barrier
  // rope
  kRopeSign,      // backward turns forward
  kRopePosition,  // positions one late
  kRopeKeys,      // keys are not turned
  kRopeLastHead,  // the last head is not written
  kRopePair,      // the second of a pair turns by the sine's negative
  // embedding
  kEmbeddingRow,         // forward: a row's first vector is the next word's
  kEmbeddingLastVector,  // forward: a row's last vector is not written
  kEmbeddingStored,      // backward: a word's gradients replace each other
  kEmbeddingNotCleared,  // backward: sums start from what was there
  kEmbeddingToken,       // backward: gradients go to the word before
};

/// The fault to commit from the next launch on. Only the test library defines it.
[[nodiscard]] InjectedStepFault& step_fault();

}  // namespace tbench::kernels
