# block-eigs on NVIDIA GPUs (compute capability 8.0 and newer; CUDA=12.6.3 needs driver 525 or newer):
#   docker build -t block-eigs-cuda -f packaging/containers/cuda.Dockerfile .
#   docker run --rm --gpus all --ipc=host -v "$PWD:/work" block-eigs-cuda mpirun -n 2 block-eigs run.yaml
# Untested: this recipe has not been built, neither as a container nor by its commands.
ARG CUDA=12.6.3
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build
COPY . /tree
WORKDIR /tree
RUN scripts/install-deps && scripts/package --deb --cuda /packages

FROM nvidia/cuda:${CUDA}-base-ubuntu24.04
LABEL org.opencontainers.image.title="block-eigs" org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /packages /packages
RUN apt-get update \
    && apt-get install -y --no-install-recommends openmpi-bin /packages/block-eigs_*.deb /packages/python3-block-eigs_*.deb \
       /packages/block-eigs-petsc_*.deb python3-h5py python3-mpi4py \
    && rm -rf /packages /var/lib/apt/lists/* \
    && useradd --create-home user
ENV OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
    OPENBLAS_NUM_THREADS=1
USER user
WORKDIR /work
CMD ["block-eigs", "--help"]
