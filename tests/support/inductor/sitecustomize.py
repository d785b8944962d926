"""Python runs this file at its start if this folder is on PYTHONPATH."""
import quick_inductor

quick_inductor.install()
