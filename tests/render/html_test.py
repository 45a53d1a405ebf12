#!/usr/bin/env python3
"""Opens the pages of render.html in headless Chromium and uses them: html_test.py SAMPLE_PAGE. Exit status 77: skipped."""
import re
import sys
import tempfile
import unittest
from pathlib import Path
from subprocess import run

sys.path.insert(0, str(Path(__file__).resolve().parent))
import chromium

SAMPLE_PAGE = None
PROGRAM = chromium.find()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.temporary.name)
        run([SAMPLE_PAGE, cls.temporary.name], check=True)
        cls.browser = chromium.Browser(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.temporary.cleanup()

    def open(self, name, **how):
        page = chromium.Page(self.browser, (self.directory / name).as_uri(), **how)
        self.addCleanup(page.close)
        return page

    def shown(self, page):
        return page.js("[...document.querySelectorAll('.node[role=button]')].map((n) => n.querySelector('text').textContent)")

    def test_loads_nothing_and_says_nothing(self):
        text = (self.directory / "layers.html").read_text(encoding="utf-8")
        self.assertNotRegex(text, r"<(script|link|img|iframe)[^>]* (src|href)=")
        self.assertIn("default-src 'none'", text)
        self.assertLess(len(text), 2_000_000)
        page = self.open("layers.html")
        self.assertEqual(page.problems(), [])
        self.assertEqual(page.js("document.title"), "test · layer 0")
        self.assertEqual(page.js("performance.getEntriesByType('resource').length"), 0)

    def test_search_click_keys_and_layers(self):
        page = self.open("layers.html")
        page.press("]")
        self.assertEqual(page.js("document.getElementById('title').textContent"), "test · layer 1")
        self.assertIn("q_proj", self.shown(page))
        self.assertNotIn("view", self.shown(page))
        page.press("/")
        page.type("fmha")
        self.assertEqual(page.js("document.getElementById('found').textContent"), "1 node")
        self.assertEqual(page.js("document.querySelectorAll('.node.found').length"), 1)
        page.press("Enter")
        self.assertIn("attention_with_cache", page.js("document.getElementById('details').textContent"))
        self.assertEqual(page.js("document.querySelectorAll('#timeline .span.on').length"), 1)
        page.press("Escape")
        page.js("document.activeElement.blur()")
        page.click("#timeline .span:nth-of-type(2)")
        self.assertIn("%q_1", page.js("document.getElementById('details').textContent"))
        page.press("ArrowUp")
        self.assertIn("%norm_1", page.js("document.getElementById('details').textContent"))
        page.click("#layers button")
        self.assertEqual(page.js("document.getElementById('title').textContent"), "test · layer 0")
        self.assertEqual(page.problems(), [])

    def test_folding_steps_table_and_theme(self):
        page = self.open("layers.html")
        page.press("]")
        folded = len(self.shown(page))
        page.press("f")
        self.assertEqual(len(self.shown(page)), folded + 3)
        page.press("f")
        page.js("document.querySelector('.edge .fold').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertGreater(len(self.shown(page)), folded)
        page.js("adpipe.setStep(1)")
        self.assertIn("59.5 µs", page.js("document.getElementById('lines').textContent"))
        page.js("adpipe.setStep(-1)")
        page.click("#tab-table")
        rows = page.js("adpipe.tableText()").strip().split("\n")
        self.assertEqual(len(rows), 13)
        column = rows[0].split("\t").index("time_ns")
        self.assertEqual(sum(int(row.split("\t")[column]) for row in rows[1:]), 58500)
        page.click("#table th[data-key=time] button")
        times = page.js("[...document.querySelectorAll('#table tbody tr')].map((r) => Number(r.children[4].textContent))")
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(page.js("document.querySelector('#table th[data-key=time]').getAttribute('aria-sort')"), "descending")
        before = page.js("getComputedStyle(document.body).backgroundColor")
        page.click("#theme")
        self.assertNotEqual(page.js("getComputedStyle(document.body).backgroundColor"), before)
        self.assertEqual(page.problems(), [])

    def test_blocks_fold_and_nothing_is_lost(self):
        page = self.open("layers.html")
        page.press("]")
        titles = "[...document.querySelectorAll('.node text:first-of-type')].map((t) => t.textContent)"
        self.assertIn("q_proj", page.js(titles))
        self.assertIn("On no node", page.js(titles))
        page.press("b")
        folded = page.js("[...document.querySelectorAll('.node.folded')].map((n) => n.getAttribute('aria-label'))")
        self.assertIn("unfold Attention, 7 nodes, 5 kernels, 24.0 µs  41.0 %", folded)
        self.assertNotIn("q_proj", page.js(titles))
        # The times in the folded picture are those of the layer: 58.5 µs.
        times = page.js("[...document.querySelectorAll('.node')].map((n) => n.textContent)")
        found = [re.search(r"([\d.]+) (µs|ns)  [\d.<]+ %", text) for text in times]
        self.assertAlmostEqual(sum(float(time[1]) / (1000 if time[2] == "ns" else 1) for time in found if time), 58.5)
        page.js("document.querySelector('.node.folded').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertIn("q_proj", page.js(titles))
        page.js("document.querySelector('.block-title').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertNotIn("q_proj", page.js(titles))
        # A search finds what is folded, and going there unfolds it.
        page.press("/")
        page.type("q_proj")
        self.assertEqual(page.js("document.querySelectorAll('.node.folded.found').length"), 1)
        page.press("Enter")
        self.assertIn("%q_1", page.js("document.getElementById('details').textContent"))
        self.assertIn("q_proj", page.js(titles))
        self.assertEqual(page.problems(), [])

    def test_pointing_links_graph_timeline_and_table(self):
        page = self.open("layers.html")
        page.press("]")
        page.click("#tab-table")
        page.point("#timeline .span:nth-of-type(5)")
        [kernel] = page.js("[...document.querySelectorAll('#timeline .span.on')].map((s) => s.__data__.i)")
        self.assertEqual(page.js("[...document.querySelectorAll('#table tr.on')].map((r) => r.__data__)"), [kernel])
        self.assertEqual(page.js("[...document.querySelectorAll('.row.on')].map((r) => r.__data__)"), [kernel])
        self.assertEqual(page.js("document.querySelectorAll('.node.lit').length"), 1)

    def test_table_is_copied_and_filtered(self):
        page = self.open("layers.html")
        page.press("]")
        page.click("#tab-table")
        page.js("document.getElementById('filter').value = 'gemm'")
        page.js("document.getElementById('filter').dispatchEvent(new Event('input'))")
        page.click("#copy")
        # The browser copies when it comes to it; the page says so then.
        page.js("new Promise((done) => { const said = document.getElementById('said'); const look = () => said.textContent === 'table copied' && done(); "
                "new MutationObserver(look).observe(said, {childList: true}); look(); })")
        page.js("(() => { const area = document.body.appendChild(document.createElement('textarea')); "
                "window.pasted = new Promise((done) => { area.oninput = () => done(area.value); }); area.focus(); })()")
        page.paste()
        self.assertEqual(page.js("window.pasted"), page.js("adpipe.tableText()"))
        self.assertEqual(page.js("adpipe.tableText()").count("\n"), 1 + page.js("document.querySelectorAll('#table tbody tr').length"))
        self.assertTrue(all("gemm" in row for row in page.js("adpipe.tableText()").strip().split("\n")[1:]))

    def test_it_is_dark_where_all_else_is(self):
        self.assertEqual(self.open("layers.html", dark=True).js("document.documentElement.dataset.theme"), "dark")
        self.assertEqual(self.open("layers.html").js("document.documentElement.dataset.theme"), "light")

    def test_times_are_rounded_as_elsewhere(self):
        page = self.open("layers.html")
        for ns, text in {2294: "2.29 µs", 2295: "2.30 µs", 3045: "3.05 µs", 999: "999 ns", 999499: "999 µs", 999500: "1.00 ms", 1005000: "1.01 ms", -2295: "-2.30 µs"}.items():
            self.assertEqual(page.js(f"adpipe.duration({ns})"), text)

    def test_without_a_trace_it_is_the_structure(self):
        page = self.open("no_trace.html")
        self.assertIn("No trace", page.js("document.getElementById('timeline').textContent"))
        self.assertIn("q_proj", self.shown(page))
        self.assertEqual(page.problems(), [])

    def test_hostile_names_stay_text(self):
        text = (self.directory / "hostile.html").read_text(encoding="utf-8")
        self.assertEqual(len(re.findall(r"</script", text)), 4)
        page = self.open("hostile.html")
        page.press("f")
        page.js("adpipe.choose(6)")
        self.assertIn("<img src=x", page.js("document.getElementById('details').textContent"))
        page.click("#tab-table")
        self.assertEqual(page.js("window.broken === undefined && document.images.length"), 0)
        self.assertEqual(page.js("document.scripts.length"), 4)
        self.assertEqual(page.problems(), [])

    def test_people_who_do_not_see_it(self):
        page = self.open("layers.html")
        self.assertEqual(page.js("[...document.querySelectorAll('.node[role=button]')].filter((n) => !n.getAttribute('aria-label') || n.tabIndex !== 0).length"), 0)
        self.assertEqual(page.js("[...document.querySelectorAll('button,input,select')].filter((n) => !n.textContent.trim() && "
                                 "!n.getAttribute('aria-label') && !n.closest('label')).length"), 0)
        page.press("ArrowDown")
        self.assertNotEqual(page.js("document.getElementById('said').textContent"), "")


if __name__ == "__main__":
    if PROGRAM is None:
        print("skipped: there is no Chromium here")
        sys.exit(77)
    SAMPLE_PAGE = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
