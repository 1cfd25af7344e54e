"""The HTML template of the page, with its style for light and dark screens and for paper."""

from __future__ import annotations

STYLE = """:root {
  --paper: #ffffff; --ink: #1b1f24; --quiet: #545b64; --line: #c9ced6; --band: #f3f5f8;
  --kept: #0b6b3a; --broken: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e8eaed; --quiet: #aab1ba; --line: #414851; --band: #1e2328;
    --kept: #6fd69b; --broken: #ff9d94;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif;
}
header { border-left: .4rem solid var(--kept); padding-left: 1.1rem; }
header.broken { border-color: var(--broken); }
header p { margin: .35rem 0; max-width: 46rem; }
.dataset, footer, caption { color: var(--quiet); }
h1 { margin: .1rem 0 .6rem; font-size: 1.7rem; line-height: 1.2; color: var(--kept); }
.broken h1 { color: var(--broken); }
h2 { margin: 2.4rem 0 .6rem; font-size: 1.2rem; }
.wide { overflow-x: auto; margin-bottom: 1.2rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { padding: .4rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { background: var(--band); }
tbody th { font-weight: 500; min-width: 8rem; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
li { margin: .3rem 0; max-width: 46rem; }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0; max-width: 46rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; font-size: .9rem; }
@media print {
  body { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  tr { break-inside: avoid; }
}
"""
"""The CSS of our pages, for light and dark screens and for paper."""

PAGE = (
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>"""
    + STYLE
    + """</style>
</head>
<body>
<header class="$state">
<p class="dataset">Release report: $dataset</p>
<h1>$verdict</h1>
$lead
</header>
<main>
$sections
</main>
<footer>
Made by hierdata $version. For the steward: small counts are not guarded here, so this page is not given out.
</footer>
</body>
</html>
"""
)
