"""Files made from fitted models: reports and intrusion tasks, each one HTML page, and networks for Gephi."""

from metalda.report.intrusion import write_intrusion_tasks
from metalda.report.network import write_network
from metalda.report.page import write_report
from metalda.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_intrusion_tasks", "write_network", "write_report"]
