"""A project as a page that anybody can open: its history, its state at every event, its proof."""

from projections.report.data import report
from projections.report.page import is_page, page
from projections.report.shape import Page, Proof

__all__ = ["Page", "Proof", "is_page", "page", "report"]
