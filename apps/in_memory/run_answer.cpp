#include "apps/in_memory/run_answer.hpp"

#include "apps/report/text.hpp"

namespace block_eigs {

template <class T>
void hand_over(const Context<T>& context, const DenseBlock<T>& block, const PlaceForVectors<T>& place,
               RunAnswer<T>& answer) {
  answer.rows = block.rows();
  answer.columns = block.cols();
  context.comm.collectively([&] {
    T* const at = place ? place(block.rows(), block.cols()) : nullptr;
    if (!context.device->can_borrow(at)) {
      answer.vectors = block.to_host();
      return;
    }
    context.kernels->convert(block.view(), {}, BlockView<T>{at, block.rows(), block.cols(), block.cols()});
    context.device->synchronize(Queue::compute);
  });
}

template <class T>
RunRecord operator_record(const Context<T>& context, const RunInput<T>& input, const std::string& program,
                          Spent spent) {
  RunRecord run;
  run.program = program;
  run.version = version();
  run.config = resolved_config(input.config);
  run.matrix = "an operator";
  run.rows = input.partition.rows();
  run.ranks = context.comm.size();
  run.device = context.device->name();
  run.setup_seconds = spent.setup_seconds;
  run.solve_seconds = spent.solve_seconds;
  run.iterations = spent.iterations;
  run.remark = std::move(spent.remark);
  return run;
}

template void hand_over(const Context<float>&, const DenseBlock<float>&, const PlaceForVectors<float>&,
                        RunAnswer<float>&);
template void hand_over(const Context<double>&, const DenseBlock<double>&, const PlaceForVectors<double>&,
                        RunAnswer<double>&);
template RunRecord operator_record(const Context<float>&, const RunInput<float>&, const std::string&, Spent);
template RunRecord operator_record(const Context<double>&, const RunInput<double>&, const std::string&, Spent);

}  // namespace block_eigs
