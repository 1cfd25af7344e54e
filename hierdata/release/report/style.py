"""The CSS of our pages."""

from __future__ import annotations

STYLE = """:root {
  --paper: #ffffff; --ink: #1b1f24; --quiet: #545b64; --line: #c9ced6; --band: #f3f5f8;
  --kept: #0b6b3a; --broken: #b3261e; --link: #0b57a4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e8eaed; --quiet: #aab1ba; --line: #414851; --band: #1e2328;
    --kept: #6fd69b; --broken: #ff9d94; --link: #8ab8ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 80rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif;
}
header { border-left: .4rem solid var(--kept); padding-left: 1.1rem; }
header.broken { border-color: var(--broken); }
header p { margin: .35rem 0; max-width: 66rem; }
.dataset, footer, caption { color: var(--quiet); }
h1 { margin: .1rem 0 .6rem; font-size: 1.7rem; line-height: 1.2; color: var(--kept); }
.broken h1 { color: var(--broken); }
h2 { margin: 2.4rem 0 .6rem; font-size: 1.2rem; }
.wide { overflow-x: auto; margin-bottom: 1.2rem; }
.record tbody th { min-width: 9rem; }
.record .depth-1 { padding-left: 1.5rem; }
.record .depth-2 { padding-left: 2.3rem; }
.record .depth-3 { padding-left: 3.1rem; }
.record .depth-4 { padding-left: 3.9rem; }
.record .depth-5 { padding-left: 4.7rem; }
.record .depth-6 { padding-left: 5.5rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { padding: .4rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { background: var(--band); }
tbody th { font-weight: 500; min-width: 8rem; overflow-wrap: anywhere; }
td small, tbody th small { display: block; color: var(--quiet); overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .number { white-space: normal; }
p { max-width: 60rem; }
li { margin: .3rem 0; max-width: 46rem; }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0; max-width: 46rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; font-size: .9rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .wide:focus-visible {
  outline: .2rem solid var(--link); outline-offset: .15rem;
}
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.note, .big { margin: .2rem 0; }
.big { font-size: 1.15rem; }
.note { color: var(--quiet); font-size: .9rem; }
.warned { border: 2px solid var(--broken); padding: .4rem .7rem; }
.first { columns: 22rem; column-gap: 1rem; margin-top: 1rem; font-size: .92rem; line-height: 1.4; }
.first > section {
  border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .9rem; margin-bottom: 1rem;
  break-inside: avoid;
}
.first h2 { margin: 0 0 .4rem; font-size: 1.1rem; }
.first ol { padding-left: 1.2rem; margin: .3rem 0; }
.first p { margin: .3rem 0; }
.sign .line { border-bottom: 1px solid var(--ink); height: 1.9rem; }
nav ul { columns: 17rem; padding-left: 1.2rem; }
.charts {
  display: grid; gap: 1.4rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr));
}
figure { margin: 0; min-width: 0; }
figcaption { margin-bottom: .4rem; font-weight: 600; overflow-wrap: anywhere; }
details { margin: .4rem 0; }
summary { cursor: pointer; color: var(--link); padding: .3rem 0; }
code { font-size: .85rem; overflow-wrap: anywhere; }
h1, p, li, dt, dd { overflow-wrap: anywhere; }
section { scroll-margin-top: 1rem; }
@media print {
  nav { display: none; }
  section, figure { break-inside: avoid-page; }
  details > summary { display: none; }
  details::details-content { content-visibility: visible; display: block; }
  body { max-width: none; padding: 0; font-size: .85rem; }
  .wide { overflow: visible; }
  tr { break-inside: avoid; }
}
"""
"""The CSS of our pages, for light and dark screens and for paper."""
