"""Prints the folder of the plugins."""

from . import PLUGINS

print(PLUGINS)
