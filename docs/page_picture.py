"""Picture of the page of a run, for the documentation: its beginning, as Chromium shows it.

    python docs/page_picture.py results/runs/webkb

It shows scores and names of methods alone; documents stand further below on the page.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "img" / "page.png"
SIZE = {"width": 1240, "height": 1180}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def take_picture(run: Path) -> Path:
    """Write the picture of a run's page, and return its path."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto((run / "report.html").resolve().as_uri())
        page.screenshot(path=PICTURE)
        browser.close()
    return PICTURE


if __name__ == "__main__":
    take_picture(Path(sys.argv[1]))
