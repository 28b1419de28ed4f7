# spack repo add packaging/spack && spack dev-build block-eigs@0.1.0 +petsc   (in the tree)
# Untested: written by Spack's packaging guide, not run by a Spack.
from spack.package import *


class BlockEigs(CMakePackage, CudaPackage):
    """Eigenpairs and linear systems of large sparse symmetric matrices by blocks, on GPUs and CPUs."""

    license("BSD-3-Clause")

    # No address of its own yet: built from the tree that this recipe lies in, by dev-build.
    version("0.1.0")

    variant("petsc", default=False, description="Preconditioners of PETSc, and plug-ins for it")
    variant("slepc", default=False, when="+petsc", description="The solver type blockeigs for SLEPc")
    variant("mumps", default=True, description="Factors, for verify: inertia and preconditioner: direct")
    variant("scotch", default=True, description="partition: graph, by PT-Scotch")
    variant("shared", default=False, description="Shared libraries")
    variant("tests", default=False, description="Tests, which need Google Test")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.10:", type="build")  # man pages
    depends_on("mpi")
    depends_on("hdf5+mpi")
    depends_on("lapack")
    depends_on("yaml-cpp")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("spdlog+fmt_external")
    depends_on("libzip")
    depends_on("zlib-api")
    depends_on("mumps+mpi+double~int64", when="+mumps")
    depends_on("scotch+mpi", when="+scotch")
    depends_on("petsc@3.18:+mpi+double~complex", when="+petsc")
    depends_on("slepc@3.18:", when="+slepc")
    depends_on("googletest+gmock", when="+tests")

    conflicts("%gcc@:10", msg="C++20 is needed")
    for _arch in ("35", "50", "52", "60", "61", "70", "72", "75"):
        conflicts(f"cuda_arch={_arch}", when="+cuda", msg="compute capability 8.0 and newer")

    def cmake_args(self):
        args = [
            self.define_from_variant("BLOCK_EIGS_CUDA", "cuda"),
            self.define_from_variant("BLOCK_EIGS_PETSC", "petsc"),
            self.define_from_variant("BLOCK_EIGS_MUMPS", "mumps"),
            self.define_from_variant("BLOCK_EIGS_SCOTCH", "scotch"),
            self.define_from_variant("BLOCK_EIGS_TESTS", "tests"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("BLOCK_EIGS_BENCH", False),
            # Spack's compiler wrapper says for which processor.
            self.define("BLOCK_EIGS_NATIVE", False),
        ]
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
