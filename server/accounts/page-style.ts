/**
 * The style of all pages of the issuer. Its tokens are those of the console, which a test compares
 * with console/src/style/base.css. The policy of the pages allows exactly this text.
 */
export const pageStyle = `:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #101214);
  --raised: light-dark(#f7f8f9, #181b1f);
  --line: light-dark(#dde1e6, #2c3137);
  --ink: light-dark(#14181d, #eceff2);
  --quiet: light-dark(#57606a, #a0a9b4);
  --accent: light-dark(#0b57d0, #8ab4ff);
  --on-accent: light-dark(#ffffff, #0a1a33);
  --bad: light-dark(#b3261e, #ff8f86);
  --radius: 6px;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0;
  padding: 12vh 1rem 4rem;
  background: var(--raised);
  color: var(--ink);
  font: 15px / 1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main {
  max-width: 24rem;
  margin: 0 auto;
  padding: 1.5rem 1.75rem 1.75rem;
  border: 1px solid var(--line);
  border-radius: calc(var(--radius) * 2);
  background: var(--paper);
  overflow-wrap: anywhere;
}
h1 { margin: 0 0 0.5rem; font-size: 1.4rem; font-weight: 600; line-height: 1.25; }
p { margin: 0 0 1rem; color: var(--quiet); }
a { color: var(--accent); }
label { display: block; margin-top: 1rem; font-weight: 500; }
input {
  width: 100%;
  margin-top: 0.25rem;
  padding: 0.35rem 0.6rem;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--paper);
  color: var(--ink);
  font: inherit;
}
button {
  margin: 1.25rem 0.5rem 0 0;
  padding: 0.3rem 0.8rem;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--raised);
  color: var(--ink);
  font: inherit;
  font-weight: 500;
  cursor: pointer;
}
button:first-of-type:not(.way, .end) {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.or { display: flex; align-items: center; gap: 0.75rem; margin: 1.25rem 0 1rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.way { display: block; width: 100%; margin: 0.5rem 0 0; text-align: center; }
h2 { margin: 2rem 0 0; font-size: 1.05rem; font-weight: 600; }
ul { margin: 0.75rem 0 1rem; padding: 0; list-style: none; }
li { position: relative; padding: 0.6rem 4rem 0.6rem 0; border-top: 1px solid var(--line); }
li strong { display: block; font-weight: 500; }
li span, .hint { color: var(--quiet); font-size: 0.85rem; }
li form { position: absolute; top: 0.75rem; right: 0; }
.hint { margin: 0.5rem 0 0; }
.back { margin: 1.5rem 0 0; }
.end { margin: 0; }
.notice { padding: 0.6rem 0.9rem; border-left: 3px solid var(--accent); background: var(--raised); color: var(--ink); }
.problem { padding: 0.6rem 0.9rem; border-left: 3px solid var(--bad); background: var(--raised); color: var(--ink); }
code { color: var(--ink); font: 1.5rem var(--mono); }
`
