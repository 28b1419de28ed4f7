#pragma once

#include <string>

#include "solver/lobpcg/lobpcg.hpp"
#include "tests/battery/solve_try.hpp"
#include "tests/battery/try.hpp"

namespace block_eigs::test {

/// How a try ended, the worst first.
enum class Status {
  crash,            ///< the process ended
  hang,             ///< nothing came back within the time of a try
  exception,        ///< an error after the start that is not one of the next two
  accepted,         ///< a mass matrix that is not positive definite led to values
  non_finite,       ///< values or vectors are not finite
  false_converged,  ///< a pair is called converged, its residual is above the limit
  wrong,            ///< all converged; a value below the eigenvalue of its number
  missed,           ///< all converged; a value beyond the eigenvalue of its number: one was left out
  not_orthonormal,  ///< all converged; vectors that are not B-orthonormal
  not_converged,
  at_limit,  ///< all done, some at the limit of the arithmetic
  ok,
  refused  ///< an input that must be refused was refused, with a message
};
constexpr int status_count = static_cast<int>(Status::refused) + 1;
const char* name_of(Status status);
/// Whether a run of the battery fails where it happens.
bool is_fault(Status status);

struct Verdict {
  Status status = Status::ok;
  double residual = 0.0;       ///< largest residual of a pair called done, over its limit
  double value_error = 0.0;    ///< largest distance from the eigenvalue of its number, over what is allowed
  double orthogonality = 0.0;  ///< max |V'BV - I|, over what is allowed
  std::string detail{};
};

/// Holds an answer against LAPACK's dsyevd (dsygvd) of the dense matrices. All done pairs: residuals in double
/// against the limits of docs/config.md. Where all are done: with R the residuals of the first i pairs, i
/// eigenvalues lie each within ||L^-1 R||_F / smin(V) of the i values, B = L L' (Kahan; Parlett, theorem 11.5.1),
/// so the i-th value must be so close to the i-th eigenvalue unless one was missed; residuals that are smaller
/// than they had to be count as if they were at their limits. `epsilon` of the precision of the run.
Verdict judge(const Try& one, const Answer& answer, const LobpcgOptions& options, double epsilon);

/// What an error means for a try: refused, or an exception.
Verdict judge_error(const Try& one, const RunConfig& config, const std::string& message, int exit_code);

}  // namespace block_eigs::test
