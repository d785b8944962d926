"""Python runs this at its start where this folder is on PYTHONPATH."""
import quick_inductor

quick_inductor.install()
