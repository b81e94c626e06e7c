"""A report of a fitted model: a summary first (plain data), then one HTML file from it."""

from metalda.report.page import write_report
from metalda.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_report"]
