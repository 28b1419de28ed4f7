"""Colours and type of all pictures: distinguishable for the colour-blind, each with a shade for dark pages.

A picture is drawn in the light shades; on a page every one of them becomes a CSS variable, so that the same SVG is right on
light and on dark ground."""

# name: (light, dark). The categorical ones are those of Okabe and Ito, darkened where they would be faint on white.
COLOURS = {
    "ink": ("#1c2430", "#e8ebf0"),
    "muted": ("#5b6675", "#a3adba"),
    "line": ("#d5dae1", "#39424e"),
    "band": ("#eef1f5", "#232b35"),
    "surface": ("#fefefe", "#161c24"),
    "blue": ("#0067a8", "#5cb3ea"),
    "orange": ("#c9730a", "#f0a94a"),
    "green": ("#00805c", "#35c49a"),
    "red": ("#c03a12", "#f4805c"),
    "purple": ("#a5517f", "#dd92bd"),
    "sky": ("#3f93c4", "#8fd0f5"),
}
# From the first pair to the last: viridis, without the end that is faint on the ground.
RAMP = [
    ("#45126d", "#3b8a9b"),
    ("#443a83", "#33a08a"),
    ("#38588c", "#3fb37a"),
    ("#2c718e", "#5fc265"),
    ("#238a8d", "#86cf50"),
    ("#27a07f", "#afdb44"),
    ("#4bb26b", "#d3e246"),
    ("#74b53f", "#f5e642"),
]
INK, MUTED, LINE, BAND, SURFACE, BLUE, ORANGE, GREEN, RED, PURPLE, SKY = (light for light, _ in COLOURS.values())
# By what comes first, in all pictures.
CATEGORIES = [BLUE, ORANGE, GREEN, PURPLE, SKY, RED, MUTED]

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": LINE,
    "axes.titlecolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": SURFACE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.5,
    "svg.fonttype": "none",
    "axes.unicode_minus": True,
}

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def ramp(count):
    """A colour for each of `count` things that have an order."""
    if count == 1:
        return [RAMP[2][0]]
    return [RAMP[round(k * (len(RAMP) - 1) / (count - 1))][0] for k in range(count)]


def power_of_ten(exponent):
    """10⁻⁸"""
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(_SUPERSCRIPT))


def number(value, digits=2):
    """1.2 × 10⁻⁸, or a plain number where that is short."""
    if value is None or value != value:
        return "unknown"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if -3 <= int(exponent) < 5:
        return f"{value:.{max(0, digits - 1 - int(exponent))}f}".replace("-", "−")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}".replace("-", "−")


def seconds(value):
    if value < 0.0995:
        return f"{1e3 * value:.1f} ms" if value < 0.00995 else f"{1e3 * value:.0f} ms"
    if value < 100:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(value):
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.0f} B"


def count(value):
    return f"{int(value):,}"
