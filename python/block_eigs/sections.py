"""The sections of a report: each a piece of HTML about one run, `key` being unique to it on a page of `runs`."""

from html import escape

import numpy as np

from block_eigs import pictures, style
from block_eigs.convergence import span_of
from block_eigs.page import definition_list, figure, svg, table

__all__ = ["accuracy", "config", "convergence", "costs", "course", "status", "what"]


def what(run, count=2):
    return ("pair" if run.kind == "eigen" else "right-hand side") + ("" if count == 1 else "s")


def _drawn(width, height, draw, name, description, **grid):
    """`draw(axes)` in a figure of so many inches, as SVG."""
    from matplotlib.figure import Figure

    with pictures.styled():
        canvas = Figure(figsize=(width, height), layout="constrained")
        draw(canvas.subplots(**grid))
        return svg(canvas, name, description)


def convergence(run, key, runs):
    width = 9.6 if len(runs) == 1 else 6.4
    if run.history is None or len(run.history) == 0:
        return (
            "<p>There were no iterations: a problem of so few rows is solved densely.</p>"
            if run.attributes.get("proof") == "dense"
            else "<p>The file holds no history.</p>"
        )
    span = _common_span(runs)
    drawing = _drawn(
        width,
        3.9,
        lambda axes: pictures.draw_convergence(axes, run, span),
        key + "c",
        f"residuals of {run.history.residual_norms.shape[1]} {what(run)} over {len(run.history)} iterations",
    )
    caption = f"Every curve is a {what(run, 1)}; "
    caption += "below the line its residual is small enough. " if run.limits() is not None else "its residual norm. "
    caption += (
        "A dot marks where it was done"
        + (", a diamond where arithmetic allowed no more" if (run.status == "at_accuracy_limit").any() else "")
        + (", a cross where it was left." if not run.converged.all() else ".")
    )
    if run.history.in_float.any() and not run.history.in_float.all():
        caption += " On grey ground the iterations work in single precision; the line is where double takes over."
    elif run.history.in_float.any():
        caption += " All iterations work in single precision; the status table has residuals in double."
    if len(run.preconditioners) > 1:
        caption += " Dashed lines: another preconditioner from there on."
    if (run.history.products > run.history.active_columns).any():
        filters = int(np.count_nonzero(run.history.products > run.history.active_columns))
        caption += (
            " The iterations were filters."
            if filters == len(run.history)
            else f" {filters} of the iterations {'was a filter' if filters == 1 else 'were filters'}."
        )
    return figure(drawing, caption)


def _common_span(runs):
    """Side by side, pictures have one scale."""
    spans = [
        span_of(run.history.residual_norms, pictures.limits_of(run))
        for run in runs
        if run.history is not None and len(run.history)
    ]
    if len({run.limits() is None for run in runs}) > 1:
        return None
    return min(low for low, _ in spans), max(high for _, high in spans)


def accuracy(run, key, runs):
    if run.kind == "linear":
        drawing = _drawn(
            9.6 if len(runs) == 1 else 6.4,
            3.2,
            lambda axes: pictures.draw_accuracy(axes, run),
            key + "s",
            "residuals of all right-hand sides",
        )
        return figure(
            drawing,
            "Residuals of the solutions as they stand in the file, computed anew from A and F in double, "
            "beside what the recurrence of the solver held them to be.",
        )
    if len(run.eigenvalues) == 0:
        return "<p>No pair was found.</p>"
    left = _drawn(
        4.8 if len(runs) == 1 else 6.4,
        3.0,
        lambda axes: pictures.draw_accuracy(axes, run),
        key + "s",
        "eigenvalues in their order",
    )
    right = _drawn(
        4.8 if len(runs) == 1 else 6.4,
        3.0,
        lambda axes: pictures.plot_bounds(axes, run.eigenvalues, run.error_bounds, run.residual_norms),
        key + "b",
        "error bounds relative to the eigenvalues",
    )
    kinds = {
        "rigorous": "The bounds are rigorous: an eigenvalue of the exact problem is no farther away.",
        "probable": "The bounds hold with a probability of 99.9999%: the smallest eigenvalue of B is estimated.",
        "unknown": "No bound on the errors is known for this B.",
    }
    return (
        f'<div class="pair">{figure(left, "Eigenvalues; those found several times are counted.")}'
        f"{figure(right, kinds.get(run.bounds, ''))}</div>"
    )


def _legend(stages):
    return "".join(
        f'<span class="key" style="--key: var(--{name})">{escape(stage)} {style.seconds(value)}</span>'
        for (stage, value), name in zip(stages, ("blue", "orange", "green", "muted"))
        if value > 0
    )


def costs(run, key, runs):
    parts, width = [], 4.8 if len(runs) == 1 else 6.4
    if run.times:
        strip = _drawn(
            2 * width if len(runs) == 1 else 6.4,
            0.42,
            lambda axes: pictures.plot_stages(axes, pictures.stages_of(run)),
            key + "p",
            "stages of the run",
        )
        parts.append(
            figure(
                strip,
                _legend(pictures.stages_of(run)) + f"{style.seconds(run.times[-1].slowest)} in all, until the result was written.",
            )
        )
    phases = pictures.phases_of(run)
    if phases:
        bars = _drawn(
            width,
            2.7,
            lambda axes: pictures.plot_times(axes, phases),
            key + "t",
            "where the time went",
        )
        uneven = run.attributes.get("ranks", 1) > 1
        parts.append(
            '<div class="pair">'
            + figure(
                bars,
                "By kind of work, the mean over ranks" + ("; whiskers reach to the slowest rank." if uneven else "."),
            )
        )
    if run.memory:
        parts.append("" if phases else '<div class="pair">')
        bars = [("host", run.memory.host, run.memory.host_predicted), ("GPU", run.memory.gpu, run.memory.gpu_predicted)]
        drawing = _drawn(
            width,
            1.0 if not run.memory.gpu else 1.5,
            lambda axes: pictures.plot_memory(axes, bars),
            key + "m",
            "memory of a rank",
        )
        parts.append(
            figure(
                drawing,
                "Peak memory of the rank that took most; the line is where it was predicted " "before the solve.",
            )
        )
    if run.times or run.memory:
        return "".join(parts) + ("</div>" if phases or run.memory else "")
    of = run.attributes.get
    return definition_list(
        "facts",
        [("set-up", style.seconds(of("setup_seconds", 0.0))), ("solve", style.seconds(of("solve_seconds", 0.0)))],
    )


def course(run, key, runs):
    facts = []
    for choice in run.preconditioners:
        since = f"from iteration {choice.first_iteration + 1} on" if choice.first_iteration else "preconditioner"
        facts.append(
            (since, choice.description + ("" if run.chosen or choice.first_iteration else " (given in the config)"))
        )
    facts.append(("built", run.preconditioner_made))
    if run.proof:
        facts += _proof(run)
    if run.kind == "eigen" and "orthonormality" in run.attributes:
        facts.append(
            ("orthonormal", f"VᵀBV differs from I by at most {style.number(run.attributes['orthonormality'])}")
        )
    facts.append(("remark", run.attributes.get("remark", "")))
    return definition_list("facts", facts) or "<p>The file says nothing of it.</p>"


def _proof(run):
    proof = run.proof
    names = {
        "residuals": "residuals alone",
        "none": "none was made",
        "dense": "all pairs, by a dense solver",
        "bounds": "Gershgorin's circles",
        "probe": "a random probe",
        "inertia": "inertia of A − σB, a certificate",
    }
    facts = [("proof", names.get(proof.made, proof.made)), ("it says", proof.statement.removeprefix(f"{proof.made}, "))]
    if proof.counted >= 0:
        facts.append(("counted", f"{proof.counted} eigenvalues before {proof.shift:.6g}"))
    if proof.recovered:
        facts.append(("recovered", f"{proof.recovered} that the first solve had missed"))
    if proof.missing:
        facts.append(("missing", f"{proof.missing} pairs are known to be missing"))
    return facts


_STATES = {
    "converged": ("converged", "state"),
    "at_accuracy_limit": ("at accuracy limit", "state limit"),
    "not_converged": ("not converged", "state open"),
}


def status(run, key, runs):
    number, state = style.number, [_STATES.get(word, (word, "")) for word in run.status]
    short = len(runs) == 2
    if run.kind == "linear":
        scale = np.where(run.rhs_norms > 0, run.rhs_norms, 1.0)
        head = ["side", "‖f‖", "residual ÷ ‖f‖", "iterations", ("status", "word")]
        steps = run.iterations if run.iterations is not None else [None] * len(state)
        return table(
            head,
            [
                [
                    str(j + 1),
                    number(run.rhs_norms[j], 4),
                    number(run.residual_norms[j] / scale[j]),
                    "" if steps[j] is None else str(steps[j]),
                    state[j],
                ]
                for j in range(len(state))
            ],
        )
    head = ["pair", "eigenvalue", "residual", "attained", "error bound", ("status", "word")]
    rows = []
    for j, value in enumerate(run.eigenvalues):
        rows.append(
            [
                str(j + 1),
                f"{value:.15g}".replace("-", "−") if not short else f"{value:.12g}".replace("-", "−"),
                number(run.residual_norms[j]),
                number(None if run.attained_tolerances is None else run.attained_tolerances[j]),
                number(None if run.error_bounds is None else run.error_bounds[j]),
                state[j],
            ]
        )
    if short:
        head, rows = head[:2] + head[4:], [row[:2] + row[4:] for row in rows]
    asked = f"<p>Tolerance asked for: {run.requested_tolerance:g}.</p>" if run.requested_tolerance else ""
    return asked + table(head, rows)


def config(run, key, runs):
    return f"<pre>{escape(run.config.strip())}</pre>" if run.config else "<p>The file holds no config.</p>"
