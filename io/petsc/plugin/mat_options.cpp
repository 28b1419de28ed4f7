#include "io/petsc/plugin/mat_options.hpp"

#include <petscmat.h>

#include <array>
#include <string>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

HaloWay halo_way_of(_p_Mat* a) {
  constexpr const char* reading = "reading -mat_blockcsr_halo";
  PetscOptions options = nullptr;
  const char* prefix = nullptr;
  std::array<char, 64> name{};
  PetscBool given = PETSC_FALSE;
  check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(a), &options), reading);
  check(MatGetOptionsPrefix(a, &prefix), reading);
  check(PetscOptionsGetString(options, prefix, "-mat_blockcsr_halo", name.data(), name.size(), &given), reading);
  if (given == PETSC_FALSE) return HaloWay::automatic;
  try {
    return halo_way_from_name(name.data());
  } catch (const InputError& error) {
    throw InputError(std::string("-mat_blockcsr_halo: ") + error.what());
  }
}

}  // namespace block_eigs::petsc
