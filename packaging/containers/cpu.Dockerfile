# block-eigs on processors, x86-64-v3 and newer:
#   docker build -t block-eigs -f packaging/containers/cpu.Dockerfile .
#   docker run --rm --shm-size=1g -v "$PWD:/work" block-eigs mpirun -n 4 block-eigs run.yaml
#   apptainer build block-eigs.sif docker-daemon://block-eigs:latest
# Untested as a container. What its second stage does was done in a Debian of debootstrap (scripts/package-check).
FROM debian:bookworm AS build
COPY . /tree
WORKDIR /tree
RUN scripts/install-deps && scripts/package --deb /packages

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="block-eigs" org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /packages /packages
RUN apt-get update \
    && apt-get install -y --no-install-recommends openmpi-bin /packages/block-eigs_*.deb /packages/python3-block-eigs_*.deb \
       /packages/block-eigs-petsc_*.deb python3-h5py python3-mpi4py \
    && rm -rf /packages /var/lib/apt/lists/* \
    && useradd --create-home user
# As sourced from /usr/share/block_eigs/environment; containers often forbid the single-copy mechanism.
ENV OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
    OPENBLAS_NUM_THREADS=1
USER user
WORKDIR /work
CMD ["block-eigs", "--help"]
