import { roleMay } from '../src/gateway/policy.ts';
import { roles } from '../src/gateway/principal.ts';
import type { EndpointRow } from '../src/appliance/api/row.ts';
import { endpoints } from '../src/appliance/api/table.ts';
import { parseRoute } from '../src/appliance/route.ts';
import { markdownTable } from './markdown.ts';

const rows = Object.entries<EndpointRow>(endpoints);

/** docs/endpoints.md: every operation of the API, by area. */
export function endpointsDocument(): string {
  const areas = [...Map.groupBy(rows, ([, { area }]) => area)];
  return `# Endpoints

Written by \`npm run docs\` from the table in the code; a test fails when it is out of date. As OpenAPI 3.1, with a page to try it, it
is served by the admin gateway under \`/docs\`.

${rows.length} operations in ${areas.length} areas:

- by verb: ${counted(({ route }) => parseRoute(route).method)}
- by risk: ${counted(({ risk }) => risk)}
- by the release of the API that brought them: ${counted(({ since }) => since ?? 'not known')}

Each is \`/appliances/NAME\` and the path, such as \`PUT /appliances/lb-paris/farms/shop/actions\`. \`{name}\` is one segment of a path,
\`{path*}\` the rest of it. What each risk means, and what a call needs besides, is in [admin.md](admin.md).

${areas.map(([area, members]) => section(area, members)).join('\n\n')}
`;
}

function counted(word: (row: EndpointRow) => string): string {
  const groups = Map.groupBy(rows, ([, row]) => word(row));
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([name, members]) => `${name} (${members.length})`)
    .join(', ');
}

function section(area: string, members: readonly (readonly [string, EndpointRow])[]): string {
  return [
    `## ${area}`,
    '',
    markdownTable(
      ['Operation', 'Route', 'Since', 'Risk', 'Body', 'For', 'What it does'],
      members.map(([key, row]) => cellsOf(key, row)),
    ),
  ].join('\n');
}

function cellsOf(key: string, { route, since, risk, body, summary }: EndpointRow): readonly string[] {
  const allowed = roles.filter((role) => roleMay(role, risk)).join(', ');
  return [`\`${key}\``, `\`${route}\``, since ?? '–', risk, body === 'none' ? '–' : body, allowed, summary];
}
