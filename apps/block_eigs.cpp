#include "apps/journey/programs.hpp"
#include "apps/journey/session.hpp"

int main(int argc, char** argv) {
  return block_eigs::run_session(argc, argv, "block-eigs",
                                 "Some smallest or largest eigenpairs of a large sparse symmetric matrix: "
                                 "A x = lambda x or A x = lambda B x",
                                 block_eigs::run_eigensolver);
}
