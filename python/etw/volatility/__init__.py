"""Plugins of Volatility 3 for Event Tracing for Windows in memory images.

``PLUGINS`` is the folder of the plugins, for the option ``-p`` of ``vol``. ``python -m etw.volatility`` prints it:

    vol -p "$(python -m etw.volatility)" -f memory.raw etw.Sessions
"""

from __future__ import annotations

from pathlib import Path

PLUGINS = str(Path(__file__).parent / "plugins")
"""The folder of the plugins."""
