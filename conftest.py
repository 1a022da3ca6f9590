"""The repository is its own first user; its tests run pytest within pytest."""

from __future__ import annotations

pytest_plugins = ["pytester"]
