// The functions that can be made to fail, and how. Each is a few instructions that hand its caller's arguments to
// `faults_decide` and then either go on to the real function as if nothing had been in between, or return.
#include "tests/faults/calls.hpp"

#include <cstring>

namespace faults {

namespace {

constexpr Call of(const char* name, Failure failure, int length = -1, bool made_all_the_same = false) {
  return {nullptr, name, failure, -1, false, made_all_the_same, length, {}};
}
constexpr Call mpi(const char* name, int communicator, bool by_pointer = false) {
  return {nullptr, name, Failure::mpi_handler, communicator, by_pointer, false, -1, {}};
}

}  // namespace

// In a section of its own, so that the list needs no other order than that of this file.
#define FAULTS_CALL(function, ...)                                                                       \
  extern "C" {                                                                                           \
  [[gnu::used, gnu::visibility("hidden"), gnu::section("fault_calls")]] Call faults_call_##function =    \
      __VA_ARGS__;                                                                                       \
  }                                                                                                      \
  asm(".text\n.globl " #function "\n.type " #function ",@function\n" #function                           \
      ":\n  endbr64\n  leaq faults_call_" #function "(%rip), %r11\n  jmp faults_enter\n.size " #function \
      ",.-" #function "\n");

#define FAULTS_OF(function, ...) FAULTS_CALL(function, of(#function, __VA_ARGS__))
#define FAULTS_MPI(function, ...) FAULTS_CALL(function, mpi(#function, __VA_ARGS__))

#include "tests/faults/list.inc"

// Arguments are saved and brought back, those of floating-point functions and the count of variadic ones too.
asm(R"(
.text
.hidden faults_enter
.type faults_enter,@function
faults_enter:
  pushq %rbp
  movq %rsp, %rbp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movq %r11, 56(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movq %rsp, %rdi
  movq 8(%rbp), %rsi
  leaq 16(%rbp), %rdx
  call faults_decide
  movl %eax, %r10d
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movq 56(%rsp), %r11
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  testl %r10d, %r10d
  jne 1f
  jmp *(%r11)
1:
  ret
.size faults_enter,.-faults_enter
)");

// Made by the linker for a section with a name like that.
extern "C" [[gnu::visibility("hidden")]] Call __start_fault_calls[];
extern "C" [[gnu::visibility("hidden")]] Call __stop_fault_calls[];

Call* begin() { return __start_fault_calls; }
Call* end() { return __stop_fault_calls; }

Call* find(const char* name) {
  for (Call* call = begin(); call != end(); ++call) {
    if (std::strcmp(call->name, name) == 0) return call;
  }
  return nullptr;
}

}  // namespace faults
