#include "io/partition/label_propagation.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "io/partition/key_numbers.hpp"
#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

using Messages = std::vector<std::vector<std::int64_t>>;

/// A sweep looks at so many shares of the nodes in turn: neighbours seldom move at the same time.
constexpr int shares = 4;

/// A node that would rather have another label.
struct Wish {
  GlobalIndex label;
  Offset gain;  ///< weight of its arcs to nodes of that label beyond that to those of its own
  LocalIndex node;
};

int share_of(GlobalIndex node, int sweep) {
  const auto counter = static_cast<std::uint64_t>(node) * 64 + static_cast<std::uint64_t>(sweep);
  return static_cast<int>(scatter_bits((counter + 1) * golden_step) % shares);
}

class Propagation {
 public:
  Propagation(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo, const LabelRules& rules,
              std::vector<GlobalIndex>& labels)
      : comm_(comm), graph_(graph), halo_(halo), rules_(rules), labels_(labels) {}

  void run() {
    weigh_labels();
    for (int sweep = 0; sweep < rules_.sweeps; ++sweep) {
      std::int64_t moved = 0;
      for (int share = 0; share < shares; ++share) moved += move(sweep, share);
      if (comm_.sum(moved) == 0) return;
    }
  }

 private:
  GlobalIndex begin() const { return rules_.labels.begin(comm_.rank()); }
  Messages no_messages() const { return Messages(static_cast<std::size_t>(comm_.size())); }
  void put(Messages& messages, GlobalIndex label, Offset weight) const {
    auto& list = messages[static_cast<std::size_t>(rules_.labels.owner(label))];
    list.insert(list.end(), {label, weight});
  }
  Offset& weight(GlobalIndex label) { return weights_[static_cast<std::size_t>(label - begin())]; }

  void weigh_labels() {
    Messages messages;
    comm_.collectively([&] {
      weights_.assign(static_cast<std::size_t>(rules_.labels.size(comm_.rank())), 0);
      messages = no_messages();
      for (std::size_t i = 0; i < graph_.weights.size(); ++i) put(messages, labels_[i], graph_.weights[i]);
    });
    for (const auto& list : comm_.all_to_all(messages)) {
      for (std::size_t k = 0; k < list.size(); k += 2) weight(list[k]) += list[k + 1];
    }
  }

  /// The label that a node is coupled with most, if that is more than with its own.
  void wish_of(LocalIndex node, std::vector<Wish>& wishes) {
    const auto i = static_cast<std::size_t>(node);
    tally_.clear();
    for (Offset k = graph_.offsets[i]; k < graph_.offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      tally_.add(labels_[static_cast<std::size_t>(halo_.neighbours()[at])],
                 graph_.arc_weights.empty() ? 1 : graph_.arc_weights[at]);
    }
    Offset own = 0;
    Offset most = 0;
    GlobalIndex best = labels_[i];
    const auto chance = [&](GlobalIndex label) {
      return scatter_bits(static_cast<std::uint64_t>(label) * golden_step + i);
    };
    for (std::size_t k = 0; k < tally_.keys().size(); ++k) {
      const GlobalIndex label = tally_.keys()[k];
      const Offset sum = tally_.sums()[k];
      if (label == labels_[i]) own = sum;
      if (sum < most || (sum == most && chance(label) < chance(best))) continue;
      most = sum;
      best = label;
    }
    if (best != labels_[i] && most > own) wishes.push_back({best, most - own, node});
  }

  /// By label, those that gain most first.
  std::vector<Wish> wishes_of(int sweep, int share) {
    std::vector<Wish> wishes;
    for (LocalIndex i = 0; i < halo_.own(); ++i) {
      const auto node = static_cast<std::size_t>(i);
      if (graph_.weights[node] > rules_.capacity || share_of(halo_.node(i), sweep) != share) continue;
      wish_of(i, wishes);
    }
    std::sort(wishes.begin(), wishes.end(), [](const Wish& one, const Wish& other) {
      return std::tuple(one.label, -one.gain, one.node) < std::tuple(other.label, -other.gain, other.node);
    });
    return wishes;
  }

  /// Weight wanted of each label, as asked of the ranks that keep it.
  Messages requests_of(const std::vector<Wish>& wishes) const {
    Messages requests = no_messages();
    for (std::size_t k = 0; k < wishes.size();) {
      const GlobalIndex label = wishes[k].label;
      Offset wanted = 0;
      for (; k < wishes.size() && wishes[k].label == label; ++k)
        wanted += graph_.weights[static_cast<std::size_t>(wishes[k].node)];
      put(requests, label, wanted);
    }
    return requests;
  }

  /// Weights wanted become weights granted, in the order of the ranks.
  void grant(Messages& requests) {
    for (auto& list : requests) {
      for (std::size_t k = 0; k < list.size(); k += 2) {
        Offset& held = weight(list[k]);
        list[k + 1] = std::clamp<Offset>(rules_.capacity - held, 0, list[k + 1]);
        held += list[k + 1];
      }
    }
  }

  /// Fulfils wishes as far as weights were granted; what labels weigh less, nodes that left and grants that were
  /// not used, goes into `less`.
  std::int64_t fulfil(const std::vector<Wish>& wishes, const Messages& granted, Messages& less) {
    std::int64_t moved = 0;
    std::vector<std::size_t> next(granted.size(), 0);
    for (std::size_t k = 0; k < wishes.size();) {
      const GlobalIndex label = wishes[k].label;
      const auto rank = static_cast<std::size_t>(rules_.labels.owner(label));
      Offset room = granted[rank][next[rank] + 1];
      next[rank] += 2;
      for (; k < wishes.size() && wishes[k].label == label; ++k) {
        const auto node = static_cast<std::size_t>(wishes[k].node);
        if (graph_.weights[node] > room) continue;
        room -= graph_.weights[node];
        put(less, labels_[node], graph_.weights[node]);
        labels_[node] = label;
        ++moved;
      }
      if (room > 0) put(less, label, room);
    }
    return moved;
  }

  std::int64_t move(int sweep, int share) {
    std::vector<Wish> wishes;
    Messages requests;
    comm_.collectively([&] {
      wishes = wishes_of(sweep, share);
      requests = requests_of(wishes);
    });
    requests = comm_.all_to_all(requests);
    grant(requests);
    const Messages granted = comm_.all_to_all(requests);
    std::int64_t moved = 0;
    Messages less = no_messages();
    comm_.collectively([&] { moved = fulfil(wishes, granted, less); });
    for (const auto& list : comm_.all_to_all(less)) {
      for (std::size_t k = 0; k < list.size(); k += 2) weight(list[k]) -= list[k + 1];
    }
    halo_.update(labels_);
    return moved;
  }

  const Communicator& comm_;
  const NodeGraph& graph_;
  const NodeHalo& halo_;
  const LabelRules& rules_;
  std::vector<GlobalIndex>& labels_;
  std::vector<Offset> weights_;  ///< of the labels that this rank keeps
  Tally tally_;
};

}  // namespace

void propagate_labels(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo,
                      const LabelRules& rules, std::vector<GlobalIndex>& labels) {
  Propagation(comm, graph, halo, rules, labels).run();
}

}  // namespace block_eigs
