/// The style sheet of a report: for paper and phones, light and dark.
///
/// It contains neither `<` nor `&`, since the page is parsed as HTML and as XML.
enum ReportStyle {
    static let sheet: StaticString = """
        :root {
          color-scheme: light dark;
          --page: #ffffff; --raised: #f5f6f8; --line: #d9dde3;
          --ink: #1b1f24; --quiet: #57606c; --link: #0a58a8;
          --old: #9aa4b1; --new: #0f6cbd;
          --good: #14713a; --good-back: #e3f4e8; --attention: #8a5a00; --attention-back: #fdf1d6;
          --bad: #b3261e; --bad-back: #fce8e6; --neutral-back: #eceff3;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #15181c; --raised: #1e2227; --line: #363c44;
            --ink: #e7eaee; --quiet: #a5aeb9; --link: #79b8ff;
            --old: #69737f; --new: #4ea1f0;
            --good: #6cd28e; --good-back: #17301f; --attention: #eebc53; --attention-back: #352a10;
            --bad: #ff9a90; --bad-back: #3b1b18; --neutral-back: #2a3037;
          }
        }
        * { box-sizing: border-box; }
        html { background: var(--page); color: var(--ink); -webkit-text-size-adjust: 100%; }
        body {
          max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem;
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
          overflow-wrap: break-word;
        }
        h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.01em; unicode-bidi: isolate; }
        h2 { margin: 0 0 0.75rem; font-size: 1.2rem; line-height: 1.3; }
        p { margin: 0 0 0.75rem; }
        a { color: var(--link); text-underline-offset: 0.15em; }
        code {
          font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
          unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere;
        }
        .kicker { margin: 0 0 0.35rem; color: var(--quiet); font-size: 0.875rem; }
        .outcome { margin: 0.8rem 0 0.6rem; }
        .lede { max-width: 44rem; margin: 0; font-size: 1.1rem; }
        nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 1.25rem 0 0; padding: 0; list-style: none; }
        section { margin-top: 2.25rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
        footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: 0.875rem; }
        footer p { margin: 0; }
        .badge {
          display: inline-block; padding: 0.05rem 0.6rem; border-radius: 1rem; font-size: 0.875rem; font-weight: 600;
          background: var(--neutral-back); color: var(--ink);
        }
        .badge.good { background: var(--good-back); color: var(--good); }
        .badge.attention { background: var(--attention-back); color: var(--attention); }
        .badge.bad { background: var(--bad-back); color: var(--bad); }
        .outcome .badge { padding: 0.2rem 0.9rem; font-size: 1rem; }
        dl { margin: 0 0 1rem; }
        dl div { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 1.25rem; padding: 0.35rem 0; border-bottom: 1px solid var(--line); }
        dl div:last-child { border-bottom: 0; }
        dt { color: var(--quiet); }
        dd { margin: 0; }
        .note { display: block; color: var(--quiet); font-size: 0.875rem; font-weight: 400; }
        .lines { margin: 0 0 1rem; padding: 0.75rem 1rem; list-style: none; background: var(--raised); border-radius: 0.5rem; }
        table { width: 100%; margin: 0 0 1.25rem; border-collapse: collapse; font-size: 0.9375rem; font-variant-numeric: tabular-nums; }
        caption { padding: 0 0 0.4rem; text-align: left; color: var(--quiet); font-size: 0.875rem; }
        th, td { padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; unicode-bidi: isolate; }
        th:last-child, td:last-child { padding-right: 0; }
        thead th { color: var(--quiet); font-weight: 600; font-size: 0.875rem; }
        tbody th { font-weight: 600; }
        .number { text-align: right; white-space: nowrap; }
        mark { background: none; color: inherit; font-weight: 700; text-decoration: underline 2px var(--new); text-underline-offset: 0.25em; }
        figure { margin: 0 0 1.25rem; }
        figcaption { margin: 0 0 0.5rem; color: var(--quiet); font-size: 0.875rem; }
        svg { display: block; max-width: none; margin: 0 auto; }
        svg text { fill: var(--ink); font-size: 13px; font-variant-numeric: tabular-nums; }
        svg .quiet { fill: var(--quiet); font-size: 12px; }
        svg .end { text-anchor: end; }
        svg .strong { font-weight: 600; }
        svg .track { fill: var(--neutral-back); }
        svg .bar-0 { fill: var(--old); }
        svg .bar-1, svg .step { fill: var(--new); }
        svg .bar-2 { fill: var(--good); }
        svg .step.good { fill: var(--good); }
        svg .step.attention { fill: var(--attention); }
        svg .step.bad { fill: var(--bad); }
        details { margin: 0 0 1rem; }
        summary { color: var(--link); cursor: pointer; }
        details table { margin-top: 0.5rem; }
        @media (max-width: 44rem) {
          body { padding: 1.5rem 1rem 2rem; }
          h1 { font-size: 1.5rem; }
          dl div { grid-template-columns: minmax(0, 1fr); }
          table, tbody, tr, th, td, caption { display: block; }
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
          tbody th, td { display: grid; grid-template-columns: minmax(0, 1fr); padding: 0.1rem 0; border: 0; text-align: left; white-space: normal; }
          td[data-label] { grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0 0.75rem; }
          td[data-label]::before { content: attr(data-label); grid-row: 1 / span 2; color: var(--quiet); font-size: 0.875rem; font-weight: 400; }
          td .note { grid-column: 2; }
          td .badge { justify-self: start; }
          .number { text-align: left; }
        }
        @media print {
          html { background: none; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          nav { display: none; }
          section, tr, figure { break-inside: avoid; }
          section:has(table) { break-inside: auto; }
          h2, caption { break-after: avoid; }
          details::details-content { content-visibility: visible; block-size: auto; }
        }
        """
}
