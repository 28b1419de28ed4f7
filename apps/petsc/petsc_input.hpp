#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/in_memory/run_answer.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

// What PETSc's objects are to a run in memory. They stay the caller's and must outlive it. All of it is collective
// over the ranks of the context and throws RunError where PETSc fails.
namespace block_eigs::petsc {

/// A matrix whose rows PETSc gives (AIJ, BAIJ, SBAIJ, dense) as one with entries, another one (shell, nest) as an
/// operator that multiplies column by column. `name` is what messages call it.
OperatorInput<double> operator_input(const Context<double>& context, const std::string& name, Mat a);
bool has_entries(Mat a);

/// y = M^-1 x by a KSP of the caller's: by its PC alone, all columns at once, where its type is preonly, else by
/// solving column by column.
std::unique_ptr<LinearOperator<double>> preconditioner_of(const Context<double>& context, KSP ksp,
                                                          LocalIndex rows);
std::unique_ptr<LinearOperator<double>> preconditioner_of(const Context<double>& context, PC pc, LocalIndex rows);

/// As config.device has it: the host, or what there is where the matrix has vectors on a GPU.
const char* device_for(Mat a);
/// The ranks of `object` on the device that the config asks for: of GPUs the one that PETSc has given to the rank.
Context<double> context_for(PetscObject object, const RunConfig& config);

/// Own rows of a block of vectors, row-major without padding, as a source for a config.
BlockInput block_input(const std::string& name, LocalIndex rows, LocalIndex columns, std::vector<double> values);

/// PC of the type shell without a function that stands where the program has set none and we choose. A user who
/// sets a type replaces it.
void leave_preconditioner_to_us(PC pc);
bool left_to_us(PC pc);

/// The vector to column `column` of `values` (rows x columns, row-major).
void take_column(Vec v, LocalIndex column, LocalIndex columns, std::vector<double>& values);

}  // namespace block_eigs::petsc
