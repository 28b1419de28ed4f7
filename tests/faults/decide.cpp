// Counts calls from the end of MPI_Init_thread to the beginning of MPI_Finalize, and lets the one fail that the
// plan names.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/faults/plan.hpp"

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

namespace faults {

namespace {

Plan plan;
std::atomic<bool> active{false};
bool meant = false;
std::atomic<MPI_Comm> last_communicator{MPI_COMM_NULL};  ///< requests do not say whose they are
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

/// CUDA keeps the last error of a thread until it is asked for: how launches tell theirs.
__attribute__((tls_model("initial-exec"))) thread_local int last_cuda_error = 0;

/// Whether the call asks for an error that was made up here; then that is its result.
bool tells_cuda_error(const Call& call, Arguments& arguments) {
  const bool takes = std::strcmp(call.name, "cudaGetLastError") == 0;
  if (last_cuda_error == 0 || (!takes && std::strcmp(call.name, "cudaPeekAtLastError") != 0)) return false;
  arguments.result = last_cuda_error;
  if (takes) last_cuda_error = 0;
  return true;
}

/// What the loader itself needs while it looks for the others.
void* without_loader(const char* name) {
  if (std::strcmp(name, "malloc") == 0) return reinterpret_cast<void*>(__libc_malloc);
  if (std::strcmp(name, "calloc") == 0) return reinterpret_cast<void*>(__libc_calloc);
  if (std::strcmp(name, "realloc") == 0) return reinterpret_cast<void*>(__libc_realloc);
  return nullptr;
}

void resolve(Call& call) {
  call.real = without_loader(call.name);
  if (call.real == nullptr) call.real = dlsym(RTLD_NEXT, call.name);
}

long make(const Call& call, const Arguments& arguments) {
  const auto& a = arguments.registers;
  return reinterpret_cast<long (*)(long, long, long, long, long, long)>(call.real)(a[0], a[1], a[2], a[3], a[4],
                                                                                   a[5]);
}

MPI_Comm communicator(const Call& call, const Arguments& arguments, const long* stack) {
  if (call.communicator < 0) return MPI_COMM_NULL;
  const auto n = static_cast<std::size_t>(call.communicator);
  const std::size_t in_registers = arguments.registers.size();
  const long value = n < in_registers ? arguments.registers[n] : stack[n - in_registers];
  return call.by_pointer ? *(MPI_Comm*)value : (MPI_Comm)value;
}

/// As an MPI library does it: through the handler of the communicator, which may not come back.
long fail_mpi(const Call& call, MPI_Comm comm) {
  const bool of_request =
      std::strncmp(call.name, "MPI_Wait", 8) == 0 || std::strncmp(call.name, "MPI_Test", 8) == 0;
  if (of_request) comm = last_communicator;
  if (comm == MPI_COMM_NULL) comm = MPI_COMM_WORLD;
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/// The file ends where it was to be read: it really does, also for whoever asks how long it is. Files elsewhere
/// than in the folder of the run are left as they are.
void end_file(const Call& call, const std::array<long, 6>& arguments) {
  const auto descriptor = static_cast<int>(arguments[0]);
  const bool has_place = std::strncmp(call.name, "pread", 5) == 0;
  const long place = has_place ? arguments[3] : ::syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  char link[64], path[512], folder[512];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const long length = ::syscall(SYS_readlink, link, path, sizeof(path) - 1);
  if (length <= 0 || place < 0 || ::getcwd(folder, sizeof(folder)) == nullptr) return;
  path[length] = '\0';
  const auto beginning = std::strlen(folder);
  if (std::strncmp(path, folder, beginning) == 0 && path[beginning] == '/') ::syscall(SYS_truncate, path, place);
}

void fail(const Call& call, Arguments& arguments, const long* stack) {
  report("fired");
  if (plan.ended) end_file(call, arguments.registers);
  if (call.made_all_the_same) make(call, arguments);
  switch (call.failure) {
    case Failure::minus_one:
      arguments.result = plan.ended ? 0 : -1;
      break;
    case Failure::null:
    case Failure::zero:
      arguments.result = 0;
      break;
    case Failure::code:
      arguments.result = plan.error;
      if (std::strncmp(call.name, "cuda", 4) == 0) last_cuda_error = plan.error;
      break;
    case Failure::mpi_handler:
      arguments.result = fail_mpi(call, communicator(call, arguments, stack));
  }
  if (call.failure == Failure::minus_one || call.failure == Failure::null) errno = plan.error;
}

void begin_counting() {
  plan = read_plan();
  meant = is_this_rank();
  note_objects();
  active = true;
}

void end_counting() {
  active = false;
  for (const Call* call = begin(); call != end(); ++call) {
    for (const auto& [who, name] : {std::pair(0, "program"), std::pair(1, "libraries")}) {
      const long count = call->counts[static_cast<std::size_t>(who)];
      char text[96];
      std::snprintf(text, sizeof(text), "count %s:%s", call->name, name);
      if (count > 0) report(text, count);
    }
  }
}

/// Whether this call is to fail; what is short is made shorter and goes on.
bool is_its_turn(Call& call, Caller who, Arguments& arguments) {
  auto& count = call.counts[static_cast<std::size_t>(who)];
  const long now = std::atomic_ref(count).fetch_add(1) + 1;
  if (!meant || &call != plan.call || who != plan.caller) return false;
  if (plan.over >= 0) return arguments.registers[0] > plan.over;
  if (now != plan.number && !(plan.lasting && now > plan.number)) return false;
  if (!plan.shortened) return true;
  if (call.length < 0) return false;
  long& length = arguments.registers[static_cast<std::size_t>(call.length)];
  if (length > 1) report("fired");
  length = length > 1 ? length / 2 : length;
  return false;
}

}  // namespace

/// 0: the real function is called with these arguments. Else the caller gets the result that is in them.
extern "C" [[gnu::visibility("hidden")]] int faults_decide(Arguments* arguments, const void* from,
                                                           const long* stack) {
  Call& call = *arguments->call;
  if (call.real == nullptr) resolve(call);
  if (inside) return 0;
  if (!active) {
    if (std::strcmp(call.name, "MPI_Init_thread") != 0) return 0;
    arguments->result = make(call, *arguments);
    begin_counting();
    return 1;
  }
  const Caller who = caller(from);
  if (who == Caller::others) return 0;
  if (tells_cuda_error(call, *arguments)) return 1;
  const int before = errno;
  inside = true;
  bool fails = false;
  if (std::strcmp(call.name, "MPI_Finalize") == 0) {
    end_counting();
  } else {
    if (call.communicator >= 0 && std::strncmp(call.name, "MPI_I", 5) == 0)
      last_communicator = communicator(call, *arguments, stack);
    fails = is_its_turn(call, who, *arguments);
  }
  errno = before;
  if (fails) fail(call, *arguments, stack);
  inside = false;
  return fails ? 1 : 0;
}

}  // namespace faults
