"""Print the share of lines that the tests ran, for each folder of the package and in all."""

from collections import Counter
from pathlib import Path

from coverage import Coverage

measured = Coverage()
measured.load()
measured.combine()  # what processes wrote after pytest was done
lines: Counter[str] = Counter()
missed: Counter[str] = Counter()
for name in measured.get_data().measured_files():
    _, statements, _, missing, _ = measured.analysis2(name)
    parts = Path(name).parts
    folder = parts[parts.index("metalda", parts.index("src")) + 1]
    for key in (folder if "." not in folder else "(top)", "in all"):
        lines[key] += len(statements)
        missed[key] += len(missing)

print("Lines that the tests ran")
for folder in sorted(lines, key=lambda each: (each == "in all", each)):
    print(f"  {folder:<12} {100 * (1 - missed[folder] / lines[folder]):5.1f} % of {lines[folder]:6,}")
