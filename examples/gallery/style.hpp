// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The look of the page: two palettes, one column on a phone and two beside each other on a wide screen. Gallery, no
// part of the library.
#pragma once

namespace gallery {

inline constexpr auto style = R"css(
:root {
  color-scheme: light dark;
  --paper: #faf9f5; --sheet: #ffffff; --ink: #22211d; --soft: #6b6860; --rule: #e2dfd5; --code: #f4f2ea;
  --accent: #0b6e69; --accent-soft: #d5ebe7; --warm: #b4540a; --good: #2e7031; --bad: #b3261e; --band: #f7f5ee;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", Charter, Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --sheet: #1b1e24; --ink: #e8e6df; --soft: #9c9a92; --rule: #30343c; --code: #15181d;
    --accent: #5cc2b6; --accent-soft: #1e3b3a; --warm: #e79a5b; --good: #7ec27f; --bad: #f2867d; --band: #20242b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.55 var(--serif); }
main, header { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 56px; }
h1 { font-size: clamp(2.2rem, 6vw, 3.4rem); line-height: 1.08; letter-spacing: -.02em; margin: 0 0 .35em; font-weight: 600; }
.lead { font-size: 1.2rem; max-width: 40em; margin: 0 0 1.2em; color: var(--soft); text-wrap: pretty; }
nav { display: flex; flex-wrap: wrap; gap: 6px 18px; font: 14px/1.5 var(--sans); padding: 14px 0; border-block: 1px solid var(--rule); }
nav a { color: var(--ink); text-decoration: none; }
nav a:hover { color: var(--accent); }
nav b { color: var(--accent); font-weight: 600; margin-right: .3em; font-variant-numeric: tabular-nums; }
.lesson { background: var(--sheet); border: 1px solid var(--rule); border-radius: 10px; margin: 28px 0; padding: 28px clamp(16px, 3vw, 36px); }
.lesson > h2 { margin: 0; font-size: 1.7rem; line-height: 1.2; font-weight: 600; letter-spacing: -.01em; }
.number { color: var(--accent); font: 600 .95rem/1 var(--sans); letter-spacing: .08em; display: block; margin-bottom: 8px; }
.idea { margin: .5em 0 1.2em; max-width: 42em; font-size: 1.08rem; text-wrap: pretty; }
.sides { display: grid; grid-template-columns: minmax(0, 1fr); gap: 24px 40px; }
@media (min-width: 900px) { .sides { grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); } .plans { position: sticky; top: 16px; align-self: start; } }
.domains { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 18px 28px; align-items: start; margin-bottom: 12px; }
pre { background: var(--code); border: 1px solid var(--rule); border-radius: 6px; padding: 14px 16px; margin: 0 0 18px; overflow-x: auto; font: 13.5px/1.6 var(--mono); }
pre .co { color: var(--soft); font-style: italic; } pre .kw { color: var(--soft); } pre .st { color: var(--good); }
pre .vb { color: var(--accent); font-weight: 600; } pre .fo { color: var(--warm); font-weight: 600; } pre .ph { color: var(--accent); }
.answers { width: 100%; border-collapse: collapse; font: 14.5px/1.4 var(--sans); margin: 0 0 14px; }
.answers td { padding: 9px 0; border-top: 1px solid var(--rule); vertical-align: top; }
.answers td:last-child { text-align: right; padding-left: 12px; white-space: nowrap; }
.answers .big { display: block; font: 600 1.12rem/1.35 var(--mono); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.answers .small, .small { color: var(--soft); font: 13px/1.45 var(--sans); }
.ok { color: var(--good); font-weight: 600; } .wrong { color: var(--bad); font-weight: 700; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 26px; margin: 0 0 14px; padding: 12px 0; border-block: 1px solid var(--rule); font: 13px/1.4 var(--sans); color: var(--soft); }
.facts b { display: block; color: var(--ink); font-size: 1.12rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.remark { margin: 0 0 .8em; color: var(--soft); }
details { font: 14px/1.5 var(--sans); margin: 0 0 8px; } summary { cursor: pointer; color: var(--accent); padding: 3px 0; }
details pre { margin-top: 8px; font-size: 12.5px; }
.whynot { margin: 8px 0 12px; padding: 0; list-style: none; } .whynot li { margin: 0 0 6px; padding-left: 14px; border-left: 2px solid var(--rule); }
.whynot b { font-weight: 600; } code { font: .9em var(--mono); color: var(--soft); }
.plans > details { margin-top: 4px; } .plans figure { margin-bottom: 10px; } details pre { max-height: 30em; overflow: auto; }
figure { margin: 0; } figcaption { font: 13px/1.45 var(--sans); color: var(--soft); margin-top: 10px; text-wrap: pretty; }
svg { display: block; max-width: 100%; } svg text { fill: var(--ink); font: 13px var(--sans); }
.picture { width: 100%; max-width: 520px; margin: 0 auto; background: var(--paper); border: 1px solid var(--rule); border-radius: 8px; }
svg .name { font: 600 13px var(--mono); } svg .side { fill: var(--soft); font: 12.5px var(--sans); }
svg .tiny { fill: var(--soft); font: 11.5px var(--mono); }
svg .head { fill: var(--accent); font: 600 12.5px var(--sans); letter-spacing: .03em; }
svg .end { text-anchor: end; } svg .mid { text-anchor: middle; }
svg .cell { fill: var(--accent); opacity: .78; } svg .fold { fill: var(--sheet); stroke: var(--warm); stroke-width: 1.2; }
svg .answer { fill: var(--accent-soft); stroke: var(--accent); stroke-width: 1.2; }
svg .twig { stroke: var(--accent); stroke-width: 1.3; fill: none; } svg .node { fill: var(--accent); } svg .band { fill: var(--band); }
svg .bar { fill: var(--accent); } svg .label { font: 600 13.5px var(--sans); } svg .value { font: 13px var(--sans); font-variant-numeric: tabular-nums; }
svg .reference { stroke: var(--warm); stroke-width: 1.5; stroke-dasharray: 4 4; }
.drawings { display: flex; flex-wrap: wrap; gap: 0 28px; }
.drawing { margin: 0 0 22px; flex: 0 1 480px; } .wide { flex: 0 0 100%; } .drawing svg { width: 100%; height: 110px; border-bottom: 1px solid var(--rule); overflow: visible; }
.drawing img { display: block; width: 100%; border-radius: 6px; } .drawing figcaption { margin-top: 6px; }
svg .curve { fill: var(--warm); stroke: var(--warm); stroke-width: 1; stroke-linejoin: round; vector-effect: non-scaling-stroke; opacity: .85; }
footer { max-width: 1120px; margin: 0 auto; padding: 8px 20px 56px; }
@media (max-width: 560px) { body { font-size: 16px; } header { padding-top: 32px; } .lesson { border-radius: 0; margin-inline: -20px; border-inline: 0; padding-inline: 20px; } }
@media print { body { background: #fff; } .lesson { break-inside: avoid; } }
)css";

} // namespace gallery
