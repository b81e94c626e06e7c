"""Pages made from fitted models, each one HTML file: reports, and intrusion tasks for coders."""

from metalda.report.intrusion import write_intrusion_tasks
from metalda.report.page import write_report
from metalda.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_intrusion_tasks", "write_report"]
