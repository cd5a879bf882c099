# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What comes out of a run: the compact table, the judgement of every bar in bars.json, the JSON with all trials, and one
# picture as SVG. Pure functions of the records that run.py collects. Test layer.
"""Table, bars, JSON and picture of the bench."""
import json
import math
from html import escape

COLUMNS = ["tally fast", "tally reproducible", "tally exact", "cub", "cub not_guaranteed", "cub gpu_to_gpu", "thrust", "torch",
           "inductor", "ceiling"]
SHORT = {"tally reproducible": "t.repro", "tally fast": "t.fast", "tally exact": "t.exact", "cub not_guaranteed": "cub ng",
         "cub gpu_to_gpu": "cub g2g"}


def is_cub(group):
    return group.startswith("cub")


def best(record, accepts):
    """The fastest entry whose group is accepted, or None."""
    entries = [e for e in record["entries"] if accepts(e)]
    return min(entries, key=lambda e: e["median_us"]) if entries else None


def find(record, name):
    """The entry that a bar's name stands for."""
    if name == "best peer":
        return best(record, lambda e: e["kind"] == "peer")
    if name == "any cub":
        return best(record, lambda e: is_cub(e["group"]))
    return best(record, lambda e: e["group"] == name)


def columns_of(records):
    """The table's columns: each CUB's default apart, the rest as in COLUMNS."""
    groups = {e["group"] for r in records for e in r["entries"]}
    cubs = sorted(g for g in groups if is_cub(g) and g not in COLUMNS)
    out = []
    for name in COLUMNS:
        out += cubs if name == "cub" else [name] if name in groups else []
    return out + sorted(groups - set(out))


def micro(value):
    return f"{value:.2f}" if value < 100 else f"{value:.1f}"


def where(record):
    return f"2^{record['log2']}" + ("" if record["layout"] == "even" else f" {record['layout']}")


def progress(record):
    cells = "  ".join(f"{SHORT.get(g, g)} {micro(find(record, g)['median_us'])}" for g in columns_of([record]))
    return f"{record['workload']:14} {where(record):15} {cells}" + ("  WRONG: " + ", ".join(w["label"] for w in record["wrong"]) if record["wrong"] else "")


def ratios(record):
    """(against best peer, against any CUB) of the faster and of the reproducible tally."""
    out = []
    for subject in ("tally fast", "tally reproducible"):
        mine = find(record, subject)
        for rival in ("best peer", "any cub"):
            other = find(record, rival)
            out.append(other["median_us"] / mine["median_us"] if mine and other else None)
    return out


def judge(bars, records):
    """Every bar at every row it covers: {bar fields, row, ratio, holds}; holds is None where a side was not measured."""
    out = []
    for bar in bars:
        low, high = bar["log2"]
        rows = [r for r in records if r["workload"] in bar["workloads"] and low <= r["log2"] <= high and r["layout"] == "even"]
        for r in sorted(rows, key=lambda r: (bar["workloads"].index(r["workload"]), r["log2"])):
            against = bar["against"]
            if isinstance(against, dict):
                twin = next((t for t in records if t["workload"] == against["workload"] and t["log2"] == r["log2"]
                             and t["layout"] == r["layout"]), None)
                other = find(twin, against["entrant"]) if twin else None
                against = f"{against['entrant']} {against['workload']}"
            else:
                other = find(r, against)
            mine = find(r, bar["subject"])
            line = {"source": bar["source"], "subject": bar["subject"], "against": against, "workload": r["workload"],
                    "log2": r["log2"], "rule": f">= {bar['at_least']}x" if "at_least" in bar else f"<= +{bar['within_us']} us"}
            if mine and other:
                ratio, gap = other["median_us"] / mine["median_us"], mine["median_us"] - other["median_us"]
                line.update(ratio=round(ratio, 4), rival=other["label"], over_us=round(gap, 3),
                            holds=ratio >= bar["at_least"] if "at_least" in bar else gap <= bar["within_us"])
            else:
                line.update(holds=None)
            out.append(line)
    return out


def bar_lines(bars):
    """One line per bar: how many rows hold, and every row that does not."""
    grouped = {}
    for b in bars:
        grouped.setdefault((b["source"], b["subject"], b["against"], b["rule"]), []).append(b)
    lines = []
    for (source, subject, against, rule), rows in grouped.items():
        known = [b for b in rows if b["holds"] is not None]
        missed = [b for b in known if not b["holds"]]
        state = "not measured" if not known else "PASS" if not missed else "FAIL"
        worst = min(known, key=lambda b: b["ratio"], default=None)
        tail = "" if worst is None else f"  worst {worst['ratio']:.3f}x at {worst['workload']} 2^{worst['log2']} ({worst['rival']})"
        lines.append(f"{state:12} {source:10} {subject} vs {against} {rule}: {len(known) - len(missed)}/{len(known)} rows{'' if len(known) == len(rows) else f' ({len(rows) - len(known)} not measured)'}{tail}")
        lines += [f"{'':12}   missed: {b['workload']} 2^{b['log2']} {b['ratio']:.3f}x (+{b['over_us']} us) against {b['rival']}"
                  for b in missed]
    return lines


def table(head, records, bars, notes, skipped):
    """The text that is printed last: header, microseconds, ratios, bars, notes."""
    columns = columns_of(records)
    names = [SHORT.get(c, c) for c in columns]
    width = [max(len(n), 8) for n in names]
    lines = [f"{k}: {v}" for k, v in head.items()]
    lines += ["", "median microseconds per call; GB/s and p95 of the best tally (else the best peer); ratios = rival / tally"]
    lines.append(f"{'workload':14} {'n':15} " + " ".join(f"{n:>{w}}" for n, w in zip(names, width))
                 + "    GB/s     p95 fast/peer fast/cub repro/peer repro/cub")
    for r in sorted(records, key=lambda r: (r["row"], r["workload"], r["layout"], r["log2"])):
        cells = []
        for c, w in zip(columns, width):
            e = find(r, c)
            cells.append(f"{micro(e['median_us']) if e else '-':>{w}}")
        shown = best(r, lambda e: e["kind"] == "tally") or find(r, "best peer")
        figures = f"{shown['gb_per_s']:8.1f} {micro(shown['p95_us']):>7}" if shown else f"{'-':>8} {'-':>7}"
        shares = " ".join(f"{'-' if v is None else format(v, '.3f'):>{w}}" for v, w in zip(ratios(r), (9, 8, 10, 9)))
        lines.append(f"{r['workload']:14} {where(r):15} {' '.join(cells)} {figures} {shares}")
    lines += ["", *bar_lines(bars)]
    if notes:
        lines += ["", "notes:", *dict.fromkeys(notes)]
    if skipped:
        lines += ["", f"not run ({len(skipped)}): " + "; ".join(skipped)]
    return "\n".join(lines)


def write_json(path, head, records, notes, skipped, bars=None):
    path.write_text(json.dumps({"head": head, "bars": bars, "notes": notes, "skipped": skipped, "rows": records}, indent=None,
                               separators=(",", ":")))


COLOURS = {"tally fast": "#0b6e4f", "tally reproducible": "#21a179", "ceiling": "#bbbbbb", "torch": "#ee8434",
           "inductor": "#c95d24", "thrust": "#7d8597", "cub not_guaranteed": "#5c7fa8", "cub gpu_to_gpu": "#1d3557"}


def colour(group):
    return COLOURS.get(group, "#457b9d" if "3.0" in group else "#8fb8de")


def picture(head, records):
    """Achieved bandwidth: the f32 sum at every fourth size, every other workload at its largest."""
    bar, gap, left, scale_width = 13, 12, 150, 620
    largest = {}
    for r in records:
        largest[r["workload"]] = max(largest.get(r["workload"], 0), r["log2"])
    shown = [r for r in records if r["entries"] and r["layout"] == "even"
             and (r["log2"] == largest[r["workload"]] or (r["workload"] == "sum f32" and r["log2"] % 4 == 0))]
    rows = sorted(shown, key=lambda r: (r["row"], r["workload"], -r["log2"]))
    top_speed = max((e["gb_per_s"] for r in rows for e in r["entries"]), default=1.0)
    y, body = 70, []
    for r in rows:
        body.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end" font-weight="bold">{escape(r["workload"])} {escape(where(r))}</text>')
        for g in columns_of([r]):
            e = find(r, g)
            length = max(1.0, scale_width * e["gb_per_s"] / top_speed)
            body.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{colour(g)}"/>'
                        f'<text x="{left + length + 4:.1f}" y="{y + 10}">{escape(g)} {e["gb_per_s"]:.0f} GB/s, {micro(e["median_us"])} us</text>')
            y += bar
        y += gap
    title = f"Full reductions on {head.get('device', '?')}, {head.get('date', '')}: bytes read per second, longer is better"
    width = left + scale_width + 260
    ticks = "".join(f'<line x1="{left + scale_width * s / top_speed:.1f}" x2="{left + scale_width * s / top_speed:.1f}" y1="50" y2="{y}" stroke="#dddddd"/>'
                    f'<text x="{left + scale_width * s / top_speed:.1f}" y="46" text-anchor="middle">{s}</text>'
                    for s in range(0, int(top_speed) + 1, 1000 if top_speed > 2000 else max(1, 10 ** int(math.log10(max(top_speed, 1))))))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 20}" font-family="sans-serif" font-size="10">'
            f'<rect width="100%" height="100%" fill="white"/><text x="10" y="22" font-size="14">{escape(title)}</text>'
            f'{ticks}{"".join(body)}</svg>\n')
