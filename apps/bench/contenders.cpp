#include "apps/bench/contenders.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <utility>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

Question make_question(const ContestOptions& options) {
  const Communicator comm(MPI_COMM_WORLD);
  LaplacianOptions grid;
  grid.size = {options.grid, options.grid, options.grid};
  const auto source = laplacian3d(comm, grid);
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  return {make_context<double>(comm, backend_from_name(options.device), halo_way_from_name(options.halo)),
          partition, source->read(partition)};
}

RunConfig config_of(const ContestOptions& options, const std::string& text) {
  return parse_config(
      fmt::format("matrix: {{generate: laplacian3d, size: [{0}, {0}, {0}]}}\n{1}\n", options.grid, text), "bench",
      {});
}

bool is_mixed(const std::string& name) { return name.ends_with("-mixed"); }

std::string boomeramg_options(const std::string& prefix) {
  // Without aggressive coarsening it takes twice as long, and a threshold of 0.5 is no quicker than its default.
  const std::string boomeramg = fmt::format(" -{}pc_hypre_boomeramg_", prefix);
  return fmt::format("-{0}pc_type hypre -{0}pc_hypre_type boomeramg", prefix) + boomeramg + "coarsen_type HMIS" +
         boomeramg + "interp_type ext+i" + boomeramg + "P_max 4" + boomeramg + "agg_nl 1";
}

std::string preconditioner_of(const std::string& name, const ContestOptions& options) {
  const std::string first = name.substr(0, name.find('-'));
  const std::string levels = is_mixed(name) || name.ends_with("-float") ? "float" : "double";
  if (first == "none" || first == "jacobi") return fmt::format("{{type: {}}}", first);
  if (first == "chebyshev") return fmt::format("{{type: chebyshev, degree: {}}}", options.degree);
  if (first == "amg") return fmt::format("{{type: amg, precision: {}}}", levels);
  if (first == "gamg") return fmt::format("{{type: amg, method: gamg, precision: {}}}", levels);
  throw InputError("unknown contender '" + name + "'");
}

Prepared prepare(const Question& question, const RunConfig& config, const PreconditionerConfig& preconditioner,
                 bool in_float) {
  const Context<double>& context = question.context;

  Problem<double> problem{context, question.partition};
  CsrRows rows = copy_of(question.rows);
  if (needs_rows<double>(preconditioner)) problem.a_rows = copy_of(question.rows);
  context.comm.barrier();
  const Stopwatch clock;
  problem.a = std::make_unique<DistributedMatrix<double>>(context, std::move(rows), question.partition,
                                                          question.partition, config.spmm);
  BlockSpace<double> space(context, question.partition);
  Operators<double> operators = make_operators(problem, config, preconditioner, in_float);
  context.device->synchronize(Queue::compute);
  return {clock, std::move(problem), std::move(space), std::move(operators)};
}

}  // namespace block_eigs::bench
