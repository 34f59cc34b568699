"""Take the pictures of the documentation from a running site with demo data.

    python docs/pictures.py http://127.0.0.1:8000 'the password of the demo'

Each picture shows a page as it opens at 1120 by 700 pixels and is stored as WebP in
static/img/help. It is a little wider than the help shows it, so that no page of the documentation
exceeds the weight limit of all pages.
"""

import io
import re
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
HERE = Path(__file__).resolve().parent.parent / "static" / "img" / "help"
SIZE: ViewportSize = {"width": 1120, "height": 700}
KEPT = (960, 600)
QUALITY = 50
ROUND = re.compile(r"/label-rounds/[0-9a-f-]{36}/$")
# Picture: who looks, and the end of an address inside the study.
PICTURES = {
    "overview": ("researcher", ""),
    "imports": ("researcher", "imports/"),
    "round-plan": ("researcher", "label-rounds/new/"),
    "figures": ("researcher", "figures/"),
    "leaderboard": ("researcher", "scores/"),
    "replace": ("researcher", "scores/replace/"),
    "preferences": ("researcher", "preferences/"),
    "key-points": ("researcher", "key-points/"),
    "label": ("annotator", "label/"),
}


def main(site: str, password: str) -> None:
    """Sign in as each person and take the pictures of their pages."""
    HERE.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for who in dict.fromkeys(person for person, _end in PICTURES.values()):
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(f"{site}/accounts/login/")
            page.locator("[name=login]").fill(f"{who}@counterpoint.example")
            page.locator("[name=password]").fill(password)
            page.keyboard.press("Enter")
            page.wait_for_load_state("networkidle")
            page.goto(f"{site}/?all=1")
            page.get_by_role("link", name=re.compile("demo")).first.click()
            page.wait_for_url(re.compile("/s/"))
            study = page.url
            for name, (person, end) in PICTURES.items():
                if person == who:
                    keep(page, name, address(page, study, end))
        browser.close()


def address(page: Page, study: str, end: str) -> str:
    """Return the address of a page, that of the first label round if it belongs to a round."""
    if end == "label/":
        page.goto(study)
        return page.locator('main a[href*="/label"]').first.get_attribute("href") or study
    if end != "figures/":
        return f"{study}{end}"
    page.goto(f"{study}label-rounds/")
    links = page.locator("main a").evaluate_all("links => links.map(link => link.pathname)")
    return f"{next(each for each in links if ROUND.search(each))}{end}"


def keep(page: Page, name: str, where: str) -> None:
    """Save a page as a picture."""
    page.goto(where if where.startswith("http") else f"{'/'.join(page.url.split('/')[:3])}{where}")
    page.wait_for_load_state("networkidle")
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.resize(KEPT, Image.Resampling.LANCZOS).save(
        HERE / f"{name}.webp", quality=QUALITY, method=6
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
