"""Reports of fitted models: a summary as plain data, and one HTML file made from it."""

from metalda.report.page import write_report
from metalda.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_report"]
