"""Figures of calibration; they need the extra `plots` (matplotlib)."""

from factcheck.calibration.plots.bullets import plot_curves, plot_facts
from factcheck.calibration.plots.saving import can_plot, save_figure, svg_of

__all__ = ["can_plot", "plot_curves", "plot_facts", "save_figure", "svg_of"]
