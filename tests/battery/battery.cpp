// Solves hundreds of seeded matrices of many kinds as block-eigs does, and holds the answers against LAPACK.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "spmm/error.hpp"
#include "tests/battery/driver.hpp"
#include "tests/battery/write_try.hpp"

namespace block_eigs::test {

namespace {

struct Options {
  bool defaults = false;
  bool random = false;
  bool systems = false;
  bool list = false;
  bool show = false;
  std::vector<std::string> families;
  std::uint64_t seed = 0;  ///< 0: first_seed and on
  long tries = 0;          ///< 0: one a family
  std::string csv;
  std::string write;
  double at_least = 0.0;
  int ranks = 1;
  int jobs = 1;
  std::string worker;
  long from = 0;
  long step = 1;
};

void describe(CLI::App& app, Options& options, Plan& plan) {
  app.add_flag("--defaults", options.defaults, "Every matrix at default settings");
  app.add_flag("--random", options.random, "One seeded combination of options a try");
  app.add_flag("--systems", options.systems, "Linear systems as block-solve meets them, half of them by default");
  app.add_flag("--list", options.list, "Names of the families");
  app.add_flag("--show", options.show, "Prints the configs of the tries and solves nothing");
  app.add_option("--family", options.families, "Of these families alone");
  app.add_option("--seed", options.seed, "Of this seed alone");
  app.add_option("--first-seed", plan.first_seed, "Seeds from here on (1)");
  app.add_option("--tries", options.tries, "How many in all, families taking turns (one a family)");
  app.add_option("--seconds", plan.seconds, "No try begins later")->take_last();
  app.add_option("--try-limit", plan.try_limit, "Seconds after which a try counts as hanging (60)");
  app.add_option("--at-least", options.at_least, "Fails where a smaller share of tries is done (0)");
  app.add_option("--csv", options.csv, "File for all tries");
  app.add_option("--write", options.write, "Writes the matrices of the tries into this folder and solves nothing");
  app.add_option("--ranks", options.ranks, "Ranks that solve together (1)")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "Processes, or groups of ranks, side by side (1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--set", plan.overrides,
                 "Overrides of the config, such as eigensolver.preconditioner={type: amg}");
  app.add_option("--worker", options.worker)->group("");
  app.add_option("--from", options.from)->group("");
  app.add_option("--step", options.step)->group("");
}

void complete(const Options& options, Plan& plan) {
  require(options.defaults + options.random + options.systems == 1, "needs --defaults, --random or --systems");
  plan.mode = options.random ? Mode::random : options.systems ? Mode::systems : Mode::defaults;
  for (const std::string& name : options.families) plan.families.push_back(family_index(name));
  if (plan.families.empty()) {
    for (std::size_t i = 0; i < families().size(); ++i) plan.families.push_back(static_cast<int>(i));
  }
  plan.tries = options.tries > 0 ? options.tries : static_cast<long>(plan.families.size());
  if (options.seed > 0) {
    plan.first_seed = options.seed;
    plan.tries = static_cast<long>(plan.families.size());
  }
}

/// A try as a person would have to write it.
void show(const Try& one, const std::vector<std::string>& overrides) {
  long nonzeros = 0;
  for (const double value : one.a.values) nonzeros += value != 0.0 ? 1 : 0;
  fmt::print("# battery {}: {} rows, {} nonzeros, {}\n{}", repeat_options(one), one.a.size, nonzeros,
             one.mode == Mode::systems
                 ? fmt::format("{}, condition {:.1e} with a diagonal of ones, {} sides", name_of(one.definiteness),
                               one.condition, one.sides.kind)
                 : fmt::format("mass {}, {} constraints", name_of(one.mass), one.constraints),
             one.yaml);
  for (const std::string& word : overrides) fmt::print("# {}\n", word);
}

int run(int argc, char** argv) {
  Options options;
  Plan plan;
  CLI::App app("Solves seeded matrices of many kinds as block-eigs does and holds the answers against LAPACK",
               "battery");
  describe(app, options, plan);
  CLI11_PARSE(app, argc, argv);
  if (options.list) {
    for (const Family& family : families()) fmt::print("{}\n", family.name);
    return 0;
  }
  complete(options, plan);
  if (options.show) {
    for (long k = 0; k < plan.tries; ++k)
      show(make_try(plan.mode, family_of(plan, k), seed_of(plan, k)), plan.overrides);
    return 0;
  }
  if (!options.write.empty()) {
    write_tries(plan, options.write);
    return 0;
  }
  if (!options.worker.empty()) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    work(plan, {options.from, options.step, options.worker});
    MPI_Finalize();
    return 0;
  }
  setenv("OMP_NUM_THREADS", "1", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  // Of options that are given twice the last one counts: processes get their own times.
  const Launch launch{argv[0], {argv + 1, argv + argc}, options.ranks, options.jobs};
  const std::vector<Record> records = carry_out(plan, launch);
  if (!options.csv.empty()) write_csv(options.csv, records, plan.mode);
  return print_report(records, plan.mode, fmt::format("battery --ranks {}", options.ranks), options.at_least);
}

}  // namespace

}  // namespace block_eigs::test

int main(int argc, char** argv) {
  try {
    return block_eigs::test::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "battery: error: {}\n", error.what());
    return 2;
  }
}
