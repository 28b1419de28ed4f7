#pragma once

// PETSc's Mat and Vec are pointers to these: callers without PETSc's headers can pass them on, those with them
// just see a Mat and a Vec. The names are PETSc's.
struct _p_Mat;  // NOLINT(bugprone-reserved-identifier)
struct _p_Vec;  // NOLINT(bugprone-reserved-identifier)
