import type { ApplianceStatus } from '../monitor/status.ts';

/** A plain page with what is watched, how it is, and where the rest is. */
export function landingPage(build: { version: string }, appliances: readonly ApplianceStatus[]): string {
  const rows = appliances.map(row);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>zlb-exporter</title>
<style>
:root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } th, td { border-bottom: 1px solid #8884; padding: .4rem .6rem; text-align: left }
.up::before { content: "● "; color: #2a8a3a } .down::before { content: "▲ "; color: #c62828 } .unknown::before { content: "○ " }
</style>
</head>
<body>
<h1>zlb-exporter ${escapeHtml(build.version)}</h1>
<p>Watches the load balancers below. <a href="/metrics">Metrics</a> · <a href="/sd">service discovery</a> · <a href="/api/status">status as JSON</a> ·
<a href="/-/healthy">healthy</a> · <a href="/-/ready">ready</a></p>
<table>
<thead><tr><th scope="col">Appliance</th><th scope="col">State</th><th scope="col">Version</th><th scope="col">Farms</th><th scope="col">Failing collectors</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

function row({ name, up, deactivated, version, edition, farms, collectors }: ApplianceStatus): string {
  const failing = collectors.filter(({ ok }) => ok === false).map((each) => each.name);
  const mark = up === undefined ? 'unknown' : up && !deactivated ? 'up' : 'down';
  const cells = [
    `<td><a href="/probe?target=${encodeURIComponent(name)}">${escapeHtml(name)}</a></td>`,
    `<td class="${mark}">${stateOf(up, deactivated)}</td>`,
    `<td>${escapeHtml([version, edition].filter(Boolean).join(', ') || 'unknown')}</td>`,
    `<td>${farms?.length ?? 'unknown'}</td>`,
    `<td>${escapeHtml(failing.join(', ') || 'none')}</td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

function stateOf(up: boolean | undefined, deactivated: boolean): string {
  if (up === undefined) return 'not asked yet';
  if (!up) return 'does not answer';
  return deactivated ? 'answers, but is deactivated' : 'answers';
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
