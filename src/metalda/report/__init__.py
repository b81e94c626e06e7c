"""A fitted model as one page: a summary first (plain data), then HTML from it that needs no network."""

from metalda.report.page import write_report
from metalda.report.summarise import summarise
from metalda.report.summary import Summary

__all__ = ["Summary", "summarise", "write_report"]
