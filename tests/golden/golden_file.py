"""What scripts that make one golden file end with: write it, or with --check compare it with what is there."""
import sys


def write_or_check(path, text, usage):
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(usage)
    made = text()
    if not sys.argv[1:]:
        path.write_text(made)
    elif path.read_text() != made:
        sys.exit(f"{path} differs")
