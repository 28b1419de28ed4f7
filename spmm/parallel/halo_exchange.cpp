#include "spmm/parallel/halo_exchange.hpp"

#include <span>
#include <utility>
#include <vector>

namespace block_eigs {

template <class T>
HaloExchange<T>::HaloExchange(const Context<T>& context, HaloPlan plan)
    : kernels_(context.kernels),
      profile_(context.profile),
      plan_(std::make_shared<const HaloPlan>(std::move(plan))),
      rows_to_send_(context.device, plan_->rows_to_send().size()),
      channel_(context.transport->make_channel(plan_)) {
  rows_to_send_.upload(plan_->rows_to_send().data());
}

template <class T>
void HaloExchange<T>::begin(ConstBlockView<T> x) {
  cols_ = x.cols;
  const std::span<std::byte* const> targets = channel_->open(row_bytes(cols_));
  const std::vector<HaloPlan::Neighbour>& destinations = plan_->destinations();
  // Rows of neighbours that are to lie one behind the other are packed by one kernel.
  for (std::size_t d = 0; d < destinations.size();) {
    const LocalIndex first = destinations[d].first;
    std::byte* const target = targets[d];
    LocalIndex rows = 0;
    while (d < destinations.size() && targets[d] == target + static_cast<std::size_t>(rows) * row_bytes(cols_)) {
      rows += destinations[d++].count;
    }
    kernels_->gather_rows(x, rows_to_send_.data() + first, {reinterpret_cast<T*>(target), rows, cols_, cols_},
                          channel_->queue());
  }
  channel_->send();
}

template <class T>
ConstBlockView<T> HaloExchange<T>::finish() {
  const Profile::Scope scope(*profile_, Phase::halo_wait);
  return {reinterpret_cast<const T*>(channel_->receive()), plan_->ghosts(), cols_, cols_};
}

template class HaloExchange<float>;
template class HaloExchange<double>;

}  // namespace block_eigs
