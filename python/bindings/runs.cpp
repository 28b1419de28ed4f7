#include "python/bindings/runs.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "apps/in_memory/arrays.hpp"
#include "apps/in_memory/eigen_run.hpp"
#include "apps/in_memory/linear_run.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "python/bindings/convert.hpp"
#include "python/bindings/python_operator.hpp"
#include "python/bindings/run_end.hpp"
#include "python/bindings/session.hpp"
#include "spmm/error.hpp"

namespace block_eigs::python {

namespace {

Communicator communicator_of(const nb::object& handle) {
  start_mpi();
  if (handle.is_none()) return own_communicator();
  const int number = nb::cast<int>(handle);
  const nb::gil_scoped_release released;
  return communicator_from(number);
}

/// An operator of the caller as it was handed in, its arrays found out while the GIL is there.
struct Described {
  std::optional<RowArrays> matrix;
  nb::handle function;
};

Described describe(const nb::object& object) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::tuple>(object)) return {row_arrays(object), {}};
  return {{}, object};
}

/// Collective, without the GIL.
template <class T>
OperatorInput<T> operator_input(Session& session, const char* name, const Described& described,
                                const Partition& partition) {
  const Communicator& comm = session.comm();
  if (described.matrix) return {std::make_unique<CsrSource>(comm, name, *described.matrix, partition), nullptr};
  if (!described.function.is_valid()) return {};
  return {nullptr, std::make_unique<PythonOperator<T>>(session, described.function, partition.size(comm.rank()))};
}

/// Puts the request into `input`, whose b, if it has one, is left alone. Collective, without the GIL.
template <class T, class Input>
void fill(Session& session, const Request& request, const Described& a, Input& input) {
  const Communicator& comm = session.comm();
  input.partition = partition_by_counts(comm, request.rows);
  input.a = operator_input<T>(session, "A", a, input.partition);
  if (!request.preconditioner.is_none()) {
    input.preconditioner =
        std::make_unique<PythonOperator<T>>(session, request.preconditioner, input.partition.size(comm.rank()));
  }
  if (request.place.is_none()) return;
  input.place = [place = nb::handle(request.place)](LocalIndex rows, LocalIndex columns) {
    return reinterpret_cast<T*>(Session::place([&] { return nb::cast<std::uintptr_t>(place(rows, columns)); }));
  };
}

/// Works without the GIL. An exception of Python's own that was behind an error takes its place.
template <class Work>
auto without_gil(const Session& session, const Work& work) {
  try {
    const nb::gil_scoped_release released;
    return work();
  } catch (const Error&) {
    session.raise_own();
    throw;
  }
}

template <class Answer>
nb::dict common(Answer& answer, const Session& session) {
  nb::dict result = run_dict(answer.run, answer.notes);
  result["history"] = history_dict(answer.history);
  // Those that are in the caller's place are not here.
  const auto columns = static_cast<std::size_t>(answer.columns);
  const std::size_t rows = columns == 0 ? static_cast<std::size_t>(answer.rows) : answer.vectors.size() / columns;
  result["vectors"] = array_of(std::move(answer.vectors), {rows, columns});
  result["exception"] = session.exception();
  return result;
}

template <class T>
nb::dict eigsh(const Request& request) {
  const RunAtWork run;
  Session session(communicator_of(request.communicator), request.callback);
  const Described a = describe(request.a);
  const Described b = describe(request.b);
  EigenInput<T> input;
  input.config = config_with_blocks(request.config, "eigsh", request.blocks);
  EigenAnswer<T> answer = without_gil(session, [&] {
    const Context<T> context = kept_context<T>(session.comm(), input.config.device, input.config.halo);
    fill<T>(session, request, a, input);
    input.b = operator_input<T>(session, "M", b, input.partition);
    return run_eigensolver(context, std::move(input),
                           [&](const IterationReport& report) { return session.go_on(report, *context.stop); });
  });
  nb::dict result = common(answer, session);
  result.update(pairs_dict(answer.pairs));
  return result;
}

template <class T>
nb::dict solve(const Request& request) {
  const RunAtWork run;
  Session session(communicator_of(request.communicator), request.callback);
  const Described a = describe(request.a);
  LinearInput<T> input;
  input.config = config_with_blocks(request.config, "solve", request.blocks);
  LinearAnswer<T> answer = without_gil(session, [&] {
    const Context<T> context = kept_context<T>(session.comm(), input.config.device, input.config.halo);
    fill<T>(session, request, a, input);
    return run_linear_solver(context, std::move(input),
                             [&](const IterationReport& report) { return session.go_on(report, *context.stop); });
  });
  nb::dict result = common(answer, session);
  result.update(solutions_dict(answer.solutions));
  return result;
}

}  // namespace

nb::dict run_eigsh(const Request& request) {
  return request.single ? eigsh<float>(request) : eigsh<double>(request);
}

nb::dict run_solve(const Request& request) {
  return request.single ? solve<float>(request) : solve<double>(request);
}

}  // namespace block_eigs::python
