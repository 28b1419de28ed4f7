#include "apps/journey/programs.hpp"
#include "apps/journey/session.hpp"

int main(int argc, char** argv) {
  return block_eigs::run_session(argc, argv, "block-solve",
                                 "Solves A X = F, a large sparse symmetric positive definite system with many "
                                 "right-hand sides at once",
                                 block_eigs::run_linear_solver);
}
