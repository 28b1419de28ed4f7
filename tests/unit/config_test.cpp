#include "apps/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RunConfig parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "run.yaml", overrides);
}

/// The message with which `text` is refused, empty where it is not.
std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string minimal = "matrix: {generate: laplacian1d, size: [10]}\n";

TEST(Config, DefaultsAreThoseOfTheManual) {
  const RunConfig config = parse(minimal);
  EXPECT_EQ(config.matrix.generate, "laplacian1d");
  EXPECT_THAT(config.matrix.laplacian.size, ElementsAre(10));
  EXPECT_EQ(config.eigensolver.options.pairs, 1);
  EXPECT_EQ(config.eigensolver.options.which, Which::smallest);
  EXPECT_EQ(config.eigensolver.options.tolerance, 1e-8);
  EXPECT_EQ(config.eigensolver.options.convergence, Convergence::relative);
  EXPECT_EQ(config.eigensolver.options.max_iterations, 500);
  EXPECT_EQ(config.eigensolver.options.block_size, default_block_size(1));
  EXPECT_EQ(config.eigensolver.preconditioner.type, PreconditionerType::automatic);
  EXPECT_EQ(config.linear_solver.preconditioner.type, PreconditionerType::automatic);
  EXPECT_EQ(config.spmm.algorithm, SpmmAlgorithm::automatic);
  EXPECT_EQ(config.precision, Precision::float64);
  EXPECT_EQ(config.device, Backend::automatic);
  EXPECT_EQ(config.halo, HaloWay::automatic);
  EXPECT_FALSE(config.mass || config.output || config.right_hand_sides || config.eigensolver.initial);
}

TEST(Config, ReadsEverySection) {
  const RunConfig config = parse(R"(
matrix: {file: thermal2.h5, dataset: /A}
mass: {file: thermal2.h5, dataset: /B}
eigensolver:
  pairs: 16
  which: largest
  tolerance: 1.0e-6
  convergence: norm
  max_iterations: 77
  block_size: 30
  preconditioner: {type: chebyshev, degree: 5, ratio: 12.5}
  initial: {file: earlier.h5, dataset: /eigenvectors}
  constraints: {file: modes.h5, dataset: [/V, /W]}
  seed: 3
linear_solver: {tolerance: 1.0e-4, max_iterations: 12, block_size: 5, preconditioner: {type: none}, initial: {file: x.h5}}
right_hand_sides: {random: 16, seed: 9}
spmm: {algorithm: merge}
precision: float
device: host
halo: staged
output: {file: result.h5, eigenvectors: false}
)");
  EXPECT_EQ(config.matrix.file, "thermal2.h5");
  EXPECT_EQ(config.mass->dataset, "/B");
  EXPECT_EQ(config.halo, HaloWay::staged);
  EXPECT_EQ(config.eigensolver.options.which, Which::largest);
  EXPECT_EQ(config.eigensolver.options.convergence, Convergence::norm);
  EXPECT_EQ(config.eigensolver.options.block_size, 30);
  EXPECT_EQ(config.eigensolver.options.seed, 3U);
  EXPECT_EQ(config.eigensolver.preconditioner.chebyshev.degree, 5);
  EXPECT_EQ(config.eigensolver.preconditioner.chebyshev.ratio, 12.5);
  EXPECT_THAT(config.eigensolver.constraints->datasets, ElementsAre("/V", "/W"));
  EXPECT_EQ(config.linear_solver.block_size, 5);
  EXPECT_EQ(config.linear_solver.preconditioner.type, PreconditionerType::none);
  EXPECT_EQ(config.right_hand_sides->random, 16);
  EXPECT_EQ(config.spmm.algorithm, SpmmAlgorithm::merge);
  EXPECT_EQ(config.precision, Precision::float32);
  EXPECT_FALSE(config.output->eigenvectors);
}

TEST(Config, PreconditionersHaveTheirOwnOptions) {
  const RunConfig config = parse(minimal + R"(
eigensolver:
  preconditioner: {type: amg, method: hypre, degree: 3, precision: double, coordinates: {file: x.h5},
                   options: "-pc_hypre_boomeramg_max_levels 5"}
linear_solver: {preconditioner: {type: petsc, options: "-pc_type bjacobi -sub_pc_type icc"}}
)");
  const PreconditionerConfig& amg = config.eigensolver.preconditioner;
  EXPECT_EQ(amg.type, PreconditionerType::amg);
  EXPECT_EQ(amg.amg.method, AmgMethod::hypre);
  EXPECT_EQ(amg.amg.cycle.smoother_degree, 3);
  EXPECT_EQ(amg.amg.precision, Precision::float64);
  EXPECT_EQ(amg.amg.coordinates->file, "x.h5");
  EXPECT_EQ(amg.options, "-pc_hypre_boomeramg_max_levels 5");
  EXPECT_EQ(config.linear_solver.preconditioner.type, PreconditionerType::petsc);
  EXPECT_EQ(config.linear_solver.preconditioner.options, "-pc_type bjacobi -sub_pc_type icc");
  EXPECT_FALSE(config.eigensolver.options.filtered_start);
}

TEST(Config, PreconditionersAreOfTheMatrixUnlessSaidOtherwise) {
  const auto of = [](const std::string& preconditioner) {
    return parse(minimal + "eigensolver: {preconditioner: " + preconditioner + "}").eigensolver.preconditioner.of;
  };
  EXPECT_EQ(of("{type: jacobi}"), PreconditionedMatrix::matrix);
  EXPECT_EQ(of("{type: jacobi, of: mass}"), PreconditionedMatrix::mass);
  EXPECT_EQ(of("{type: chebyshev, of: mass, degree: 4}"), PreconditionedMatrix::mass);
  EXPECT_THROW(of("{type: amg, of: mass}"), InputError);
  EXPECT_THROW(of("{type: jacobi, of: neither}"), InputError);
}

TEST(Config, EigensolversBeginInFloatWhereLevelsAreInFloat) {
  const auto inner = [](const std::string& eigensolver) {
    return parse(minimal + "eigensolver: " + eigensolver).eigensolver.inner_precision;
  };
  EXPECT_EQ(inner("{preconditioner: {type: amg}}"), Precision::float32);
  EXPECT_EQ(inner("{preconditioner: {type: amg}, inner_precision: double}"), Precision::float64);
  EXPECT_EQ(inner("{preconditioner: {type: amg, precision: double}}"), Precision::float64);
  EXPECT_EQ(inner("{preconditioner: {type: chebyshev}}"), Precision::float64);
  EXPECT_EQ(inner("{preconditioner: {type: chebyshev}, inner_precision: float}"), Precision::float32);
  EXPECT_THROW(inner("{preconditioner: {type: amg, precision: double}, inner_precision: float}"), InputError);
}

TEST(Config, VerifyChoosesUnlessSaidOtherwise) {
  const auto verify = [](const std::string& eigensolver) {
    return parse(minimal + "eigensolver: " + eigensolver).eigensolver.verify;
  };
  EXPECT_EQ(verify("{pairs: 2}"), Verify::automatic);
  EXPECT_EQ(verify("{verify: auto}"), Verify::automatic);
  EXPECT_EQ(verify("{verify: probe}"), Verify::probe);
  EXPECT_EQ(verify("{verify: residuals}"), Verify::residuals);
  EXPECT_EQ(verify("{verify: inertia}"), Verify::inertia);
  EXPECT_THROW(verify("{verify: inertia, constraints: {file: x.h5}}"), InputError);
  EXPECT_THROW(verify("{verify: yes}"), InputError);
}

TEST(Config, ThePreconditionerIsChosenUnlessOneIsNamed) {
  EXPECT_EQ(parse(minimal + "eigensolver: {which: largest}").eigensolver.preconditioner.type,
            PreconditionerType::automatic);
  EXPECT_EQ(parse(minimal + "eigensolver: {preconditioner: {type: jacobi}, which: largest}")
                .eigensolver.preconditioner.type,
            PreconditionerType::jacobi);
}

TEST(Config, OverridesReplaceAddAndRemove) {
  const std::string text = minimal + "eigensolver: {pairs: 4}\noutput: {file: a.h5}\n";
  EXPECT_EQ(parse(text, {"eigensolver.pairs=7"}).eigensolver.options.pairs, 7);
  EXPECT_EQ(parse(text, {"eigensolver.preconditioner.type=none"}).eigensolver.preconditioner.type,
            PreconditionerType::none);
  EXPECT_THAT(parse(text, {"matrix.size=[3]"}).matrix.laplacian.size, ElementsAre(3));
  EXPECT_EQ(parse(text, {"matrix={file: b=c.npz}"}).matrix.file, "b=c.npz");
  EXPECT_EQ(parse(text, {"output.file=b.h5", "output.file=c.h5"}).output->file, "c.h5");
  EXPECT_FALSE(parse(text, {"output="}).output.has_value());
  EXPECT_EQ(parse("", {"matrix.generate=laplacian1d"}).matrix.generate, "laplacian1d");
}

TEST(Config, ResolvedConfigReadsBackAsItself) {
  const std::vector<std::string> texts{
      minimal,
      "matrix: {file: 'odd name: #1.h5', dataset: /A}\nmass: {file: \"\\\"quoted\\\"\"}\noutput: {file: '~'}\n"
      "eigensolver: {pairs: 3, initial: {file: a, dataset: [b, 'c d']}, tolerance: 3.3333333333333333e-7}\n",
      "matrix: {generate: rmat, scale: 5, probabilities: [0.25, 0.25, 0.25, 0.25], seed: 18446744073709551615}\n",
      minimal +
          "eigensolver: {preconditioner: {type: amg, near_null_space: {file: v.h5}, unknowns_per_node: 2}}\n"
          "linear_solver: {preconditioner: {type: petsc, options: '-pc_type lu'}}\n",
      "matrix: {generate: elasticity3d, size: [2, 3, 4], poisson: 0.25, clamped: false}\n"
      "right_hand_sides: {file: f.h5}\nprecision: float\ndevice: cuda\nhalo: peer\nspmm: {algorithm: "
      "row-split}\n"};
  for (const std::string& text : texts) {
    const std::string once = resolved_config(parse(text));
    EXPECT_EQ(resolved_config(parse(once)), once);
  }
  const RunConfig odd = parse(resolved_config(parse(texts[1])));
  EXPECT_EQ(odd.matrix.file, "odd name: #1.h5");
  EXPECT_EQ(odd.mass->file, "\"quoted\"");
  EXPECT_EQ(odd.output->file, "~");
  EXPECT_EQ(odd.eigensolver.options.tolerance, 3.3333333333333333e-7);
  EXPECT_EQ(parse(resolved_config(parse(texts[2]))).matrix.rmat.seed, 18446744073709551615U);
}

TEST(Config, EveryGeneratorHasItsOptions) {
  for (const char* text :
       {"generate: laplacian1d, size: [9], points: 3, anisotropy: [2.0]",
        "generate: laplacian2d, size: [9, 9], points: 9, anisotropy: [2.0, 1.0]",
        "generate: laplacian3d, size: [9, 9, 9], points: 27, anisotropy: [2, 1, 1]",
        "generate: elasticity3d, size: [2, 2, 2], young: 2.0, poisson: 0.2, clamped: true",
        "generate: schroedinger3d, size: [4, 4, 4], spacing: 0.5, omega: [1, 2, 3]",
        "generate: graph_laplacian, scale: 5, edge_factor: 3, probabilities: [0.57, 0.19, 0.19, 0.05], seed: 2",
        "generate: rmat, scale: 5, edge_factor: 3", "generate: random_uniform, rows: 20, per_row: 3, seed: 4",
        "generate: random_banded, rows: 20, bandwidth: 3, density: 0.5, seed: 4",
        "generate: random_spd, rows: 20, per_row: 3, shift: 0.5, seed: 4"}) {
    EXPECT_EQ(refusal(std::string("matrix: {") + text + "}"), "") << text;
  }
}

struct Refused {
  const char* text;
  std::vector<const char*> said;
};

/// Each is refused with a message that holds all of `said`.
const std::vector<Refused> refused{
    {"matrix: {generate: laplacian1d, size: [10]}\neigensolver:\n  pairs: 4\n  tolerence: 1.0e-6\n",
     {"run.yaml:4", "eigensolver.tolerence", "unknown key", "did you mean 'tolerance'"}},
    {"matrx: {generate: laplacian1d, size: [10]}", {"run.yaml:1", "matrx", "did you mean 'matrix'"}},
    {"matrix: {generate: laplacian1d, size: [10]}\nfoo: 1",
     {"run.yaml:2: foo", "unknown key", "known here: matrix, mass"}},
    {"matrix: {generate: laplacian1d, scale: 10}", {"matrix.scale", "unknown key"}},
    {"matrix: {generate: laplacian4d}",
     {"matrix.generate", "'laplacian4d' is none of", "did you mean 'laplacian"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: ten}", {"run.yaml:2: eigensolver.pairs", "an integer", "'ten'"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: 1.5}", {"an integer", "'1.5'"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: \"16\"}", {"an integer", "the text \"16\""}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: 99999999999}", {"an integer", "'99999999999'"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: 0}", {"eigensolver.pairs", "at least 1, not 0"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: }", {"an integer", "nothing"}},
    {"matrix: {file: a.h5}\neigensolver: {pairs: [1]}", {"an integer", "a list"}},
    {"matrix: {file: a.h5}\neigensolver: {seed: -1}", {"not negative", "'-1'"}},
    {"matrix: {file: a.h5}\neigensolver: {tolerance: .nan}", {"a finite number", "'.nan'"}},
    {"matrix: {file: a.h5}\neigensolver: {tolerance: 1e-8x}", {"a finite number", "'1e-8x'"}},
    {"matrix: {file: a.h5}\neigensolver: {tolerance: -1}", {"eigensolver.tolerance", "at least 0"}},
    {"matrix: {file: a.h5}\neigensolver: {which: smalest}",
     {"'smalest' is none of smallest, largest", "'smallest'"}},
    {"matrix: {file: a.h5}\neigensolver: 3", {"run.yaml:2: eigensolver", "a map", "'3'"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: jacobi}",
     {"preconditioner", "'jacobi'", "is written {type: jacobi} here"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: jacobi, degree: 3}}",
     {"degree", "belongs to types chebyshev and amg, but the type is jacobi"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, ratio: 3}}",
     {"ratio", "belongs to type chebyshev, but the type is amg"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, method: multigrid}}",
     {"method", "'multigrid' is none of"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, precision: half}}",
     {"precision", "'half' is none of double, float"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, near_null_space: {}}}",
     {"near_null_space", "needs 'file'"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, near_null_space: {file: a}, "
     "coordinates: {file: b}}}",
     {"near_null_space", "give one of them"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, options: -pc_gamg_threshold 0.1}}",
     {"options", "for the methods gamg and hypre"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: petsc}}",
     {"preconditioner", "type petsc needs", "-pc_type"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: chebyshev, options: -pc_type lu}}",
     {"options", "belongs to types petsc and amg, but the type is chebyshev"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {typ: jacobi}}", {"typ", "did you mean 'type'"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: chebyshev, degree: 0}}",
     {"degree", "1 to 1000, not 0"}},
    {"matrix: {file: a.h5}\neigensolver: {preconditioner: {type: amg, degree: 1001}}",
     {"degree", "1 to 1000, not 1001"}},
    {"matrix: {file: a.h5}\nprecision: half", {"'half' is none of double, float"}},
    {"matrix: {file: a.h5}\noutput: {eigenvectors: yes, file: b}",
     {"output.eigenvectors", "true or false", "'yes'"}},
    {"matrix: {file: a.h5}\noutput: {eigenvectors: true}", {"run.yaml:2: output", "needs 'file'"}},
    {"matrix: {file: a.h5, generate: rmat}", {"matrix.generate", "not both"}},
    {"matrix: {dataset: /A}", {"run.yaml:1: matrix", "needs 'file'"}},
    {"matrix: {generate: laplacian1d, size: [10], dataset: /A}", {"matrix.dataset", "belongs to a 'file'"}},
    {"matrix: {generate: laplacian1d, size: 10}", {"matrix.size", "a list of integers", "'10'"}},
    {"matrix: {generate: rmat, probabilities: [0.5, 0.5]}", {"needs 4 numbers, found 2"}},
    {"matrix: {file: a.h5}\nmatrix: {file: b.h5}", {"run.yaml:2: matrix", "twice"}},
    {"matrix: {file: a.h5}\neigensolver:\n  pairs: 1\n  pairs: 2", {"run.yaml:4: eigensolver.pairs", "twice"}},
    {"", {"run.yaml", "has no 'matrix'"}},
    {"- a\n- b", {"run.yaml", "a map of keys", "a list"}},
    {"just words", {"a map of keys", "'just words'"}},
    {"matrix: {file: a.h5\n", {"run.yaml:", "not valid YAML"}},
    {"matrix: [", {"not valid YAML"}},
    {"PK\x03\x04\x14", {"run.yaml", "not a config", "matrix: {file: run.yaml}"}},
    {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 1 1\n", {"run.yaml", "not a config"}},
    {"matrix: {file: a.h5}\n\tpairs: 1", {"run.yaml:2", "not valid YAML"}},
    {"matrix: {file: a.h5}\n---\nmatrix: {file: b.h5}", {"run.yaml:", "another YAML document"}},
    {"! ,a#l A X = Ff t ", {"run.yaml:1", "not valid YAML"}},  // yaml-cpp finds documents in it without end
    {"[1, 2]: 3", {"a key is a list"}},
    {"matrix: {file: a.h5}\nlinear_solver: {inner_precision: float, preconditioner: {type: petsc, options: -x}}",
     {"linear_solver.inner_precision", "none, jacobi, chebyshev, and amg in float"}},
    {"right_hand_sides: {random: 2, file: a}\nmatrix: {file: a.h5}", {"right_hand_sides", "not both"}},
};

TEST(Config, RefusesWithOneClearMessage) {
  for (const Refused& entry : refused) {
    const std::string message = refusal(entry.text);
    EXPECT_FALSE(message.empty()) << entry.text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const char* said : entry.said) EXPECT_THAT(message, HasSubstr(said)) << entry.text;
  }
}

TEST(Config, OverridesAreNamedInMessages) {
  EXPECT_THAT(refusal(minimal, {"eigensolver.pairs=x"}),
              AllOf(HasSubstr("command line, 'eigensolver.pairs=x'"), HasSubstr("an integer")));
  EXPECT_THAT(refusal(minimal, {"eigensolver.pears=3"}),
              AllOf(HasSubstr("command line, 'eigensolver.pears=3'"), HasSubstr("did you mean 'pairs'")));
  EXPECT_THAT(refusal(minimal, {"pairs"}), HasSubstr("expected key.path=value"));
  EXPECT_THAT(refusal(minimal, {"=3"}), HasSubstr("expected key.path=value"));
  EXPECT_THAT(refusal(minimal, {"a..b=3"}), HasSubstr("empty part"));
  EXPECT_THAT(refusal(minimal, {"matrix.generate.x=3"}), HasSubstr("not a map"));
  EXPECT_THAT(refusal(minimal, {"matrix.size=[3"}), HasSubstr("not valid YAML"));
  EXPECT_THAT(refusal(minimal, {"matrix={file: a.h5, dataset: {}}"}),
              AllOf(HasSubstr("command line"), HasSubstr("matrix.dataset"), HasSubstr("a map")));
}

TEST(Config, DeepNestingIsRefusedNotACrash) {
  EXPECT_THAT(refusal("matrix: " + std::string(100000, '[')), HasSubstr("not valid YAML"));
  EXPECT_THAT(refusal("matrix: " + std::string(100000, '{')), HasSubstr("not valid YAML"));
}

}  // namespace
}  // namespace block_eigs
