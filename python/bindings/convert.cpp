#include "python/bindings/convert.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "spmm/error.hpp"

namespace block_eigs::python {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

bool is_type(const AnyArray& array, nb::dlpack::dtype_code code, int bits) {
  return array.dtype().code == static_cast<std::uint8_t>(code) && array.dtype().bits == bits;
}

IndexArray index_array(nb::handle object) {
  const auto array = nb::cast<AnyArray>(object);
  const bool wide = is_type(array, nb::dlpack::dtype_code::Int, 64);
  if (!wide && !is_type(array, nb::dlpack::dtype_code::Int, 32))
    throw nb::type_error("indices must be int32 or int64");
  return {array.data(), array.size(), wide};
}

ValueArray value_array(nb::handle object) {
  const auto array = nb::cast<AnyArray>(object);
  const bool wide = is_type(array, nb::dlpack::dtype_code::Float, 64);
  if (!wide && !is_type(array, nb::dlpack::dtype_code::Float, 32))
    throw nb::type_error("values must be float32 or float64");
  return {array.data(), array.size(), wide};
}

void put_in_memory(std::optional<BlockInput>& input, const nb::dict& blocks) {
  if (!input || !blocks.contains(input->file.c_str())) return;
  const BlockArray block = block_array(blocks[input->file.c_str()]);
  input->in_memory = [name = input->file, block](const Communicator& comm) -> std::unique_ptr<BlockSource> {
    return std::make_unique<ArrayBlockSource>(comm, name, block);
  };
}

}  // namespace

RowArrays row_arrays(nb::handle matrix) {
  RowArrays rows{nb::cast<GlobalIndex>(matrix[0]), index_array(matrix[1]), index_array(matrix[2]),
                 value_array(matrix[3])};
  if (!matrix[4].is_none()) {
    rows.resident = {pointer_of<const LocalIndex>(matrix[4][0]), pointer_of<const void>(matrix[4][1]),
                     rows.values.wide};
  }
  return rows;
}

BlockArray block_array(nb::handle block) {
  if (nb::hasattr(block, "address")) {
    const auto fetched = [block]() -> const double* {
      const nb::gil_scoped_acquire gil;
      try {
        return pointer_of<const double>(block.attr("fetch")());
      } catch (const nb::python_error& error) {
        throw RunError(error.what());
      }
    };
    return {nb::cast<GlobalIndex>(block.attr("shape")[nb::int_(0)]),
            nb::cast<GlobalIndex>(block.attr("shape")[nb::int_(1)]), nullptr,
            pointer_of<const double>(block.attr("address")), fetched};
  }
  const auto array = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(block);
  return {static_cast<GlobalIndex>(array.shape(0)), static_cast<GlobalIndex>(array.shape(1)), array.data()};
}

RunConfig config_with_blocks(const std::string& text, const std::string& name, const nb::dict& blocks) {
  RunConfig config = parse_config(text, name, {});
  put_in_memory(config.eigensolver.initial, blocks);
  put_in_memory(config.eigensolver.constraints, blocks);
  put_in_memory(config.linear_solver.initial, blocks);
  for (PreconditionerConfig* preconditioner :
       {&config.eigensolver.preconditioner, &config.linear_solver.preconditioner}) {
    put_in_memory(preconditioner->amg.coordinates, blocks);
    put_in_memory(preconditioner->amg.near_null_space, blocks);
  }
  if (config.right_hand_sides) {
    std::optional<BlockInput> sides = config.right_hand_sides->input;
    put_in_memory(sides, blocks);
    config.right_hand_sides->input = *sides;
  }
  return config;
}

nb::dict pairs_dict(const PairsRecord& pairs) {
  nb::dict result;
  result["eigenvalues"] = array_of(pairs.eigenvalues);
  result["residual_norms"] = array_of(pairs.residual_norms);
  result["error_bounds"] = array_of(pairs.error_bounds);
  result["bounds"] = pairs.bounds;
  result["attained_tolerances"] = array_of(pairs.attained_tolerances);
  result["requested_tolerance"] = pairs.requested_tolerance;
  result["orthonormality"] = pairs.orthonormality;
  result["status"] = pairs.status;
  nb::dict proof;
  proof["made"] = pairs.proof.made;
  proof["statement"] = pairs.proof.statement;
  proof["missing"] = pairs.proof.missing;
  proof["recovered"] = pairs.proof.recovered;
  proof["confidence"] = pairs.proof.confidence;
  proof["smallest_gap"] = pairs.proof.smallest_gap;
  proof["shift"] = pairs.proof.shift;
  proof["counted"] = pairs.proof.counted;
  proof["missing_from"] = pairs.proof.missing_from;
  proof["missing_to"] = pairs.proof.missing_to;
  proof["seconds"] = pairs.proof.seconds;
  proof["failed"] = pairs.proof.failed;
  result["proof"] = proof;
  return result;
}

nb::dict solutions_dict(const SolutionsRecord& solutions) {
  nb::dict result;
  result["rhs_norms"] = array_of(solutions.rhs_norms);
  result["residual_norms"] = array_of(solutions.residual_norms);
  result["recursive_residual_norms"] = array_of(solutions.recursive_residual_norms);
  result["iterations_each"] = array_of(solutions.iterations);
  result["status"] = solutions.status;
  return result;
}

nb::dict history_dict(const HistoryRecord& history) {
  const auto width = static_cast<std::size_t>(history.width);
  const auto rows = static_cast<std::size_t>(history.iterations);
  nb::dict result;
  if (!history.eigenvalues.empty()) result["eigenvalues"] = array_of(history.eigenvalues, {rows, width});
  result["residual_norms"] = array_of(history.residual_norms, {rows, width});
  result["seconds"] = array_of(history.seconds);
  result["active_columns"] = array_of(history.active_columns);
  result["products"] = array_of(history.products.empty() ? history.active_columns : history.products);
  const std::vector<std::int64_t> in_float(history.in_float.begin(), history.in_float.end());
  result["in_float"] = array_of(in_float);
  return result;
}

nb::dict run_dict(const RunRecord& run, const RunNotes& notes) {
  nb::dict result;
  result["version"] = run.version;
  result["config"] = run.config;
  result["matrix"] = run.matrix;
  result["rows"] = run.rows;
  result["nonzeros"] = run.nonzeros;
  result["ranks"] = run.ranks;
  result["device"] = run.device;
  result["setup_seconds"] = run.setup_seconds;
  result["solve_seconds"] = run.solve_seconds;
  result["iterations"] = run.iterations;
  result["remark"] = run.remark;
  result["chosen"] = notes.preconditioner;
  nb::dict phases;
  for (const auto& [phase, seconds] : notes.phases) phases[phase.c_str()] = seconds;
  result["phases"] = phases;
  result["advice_reason"] = notes.advice_reason;
  result["advice_change"] = notes.advice_change;
  result["advice_other"] = notes.advice_other;
  return result;
}

}  // namespace block_eigs::python
