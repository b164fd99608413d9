import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { roleRiskMatrix } from '../../../scripts/document-tables.ts';
import { endpointsDocument } from '../../../scripts/endpoints-document.ts';
import { roleMay } from '../../../src/gateway/policy.ts';
import { roles } from '../../../src/gateway/principal.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';

describe('docs/endpoints.md', () => {
  it('is what the table in the code says; npm run docs writes it', () => {
    expect(readFileSync(new URL('../../../docs/endpoints.md', import.meta.url), 'utf8')).toBe(endpointsDocument());
  });

  it('has a line for each operation, all with the same number of cells', () => {
    const lines = endpointsDocument()
      .split('\n')
      .filter((line) => /^\| `\w+` \|/.test(line));

    expect(lines.map((line) => /`(\w+)`/.exec(line)?.[1])).toEqual(Object.keys(endpoints));
    expect(new Set(lines.map((line) => line.split(/(?<!\\)\|/).length))).toEqual(new Set([9]));
  });

  it('starts with the counts', () => {
    const rows = Object.values(endpoints);
    const areas = new Set(rows.map(({ area }) => area)).size;
    const gets = rows.filter(({ route }) => route.startsWith('GET ')).length;

    expect(endpointsDocument()).toContain(
      `${rows.length} operations in ${areas} areas:\n\n- by verb: GET (${gets}), POST (`,
    );
  });
});

describe('the matrix of roles and risks', () => {
  it('has every cell as the policy decides it, and the number of operations behind it', () => {
    const [head = [], , ...rows] = roleRiskMatrix()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    const risks = ['read', 'secret', 'reversible', 'disruptive', 'destructive'] as const;

    expect(head).toEqual(['Role', ...risks, 'operations']);
    expect(rows).toEqual([
      ...roles.map((role) => [
        `\`${role}\``,
        ...risks.map((risk) => (roleMay(role, risk) ? 'yes' : '–')),
        String(Object.values(endpoints).filter(({ risk }) => roleMay(role, risk)).length),
      ]),
      [
        'operations',
        ...risks.map((wanted) => String(Object.values(endpoints).filter(({ risk }) => risk === wanted).length)),
        String(Object.keys(endpoints).length),
      ],
    ]);
  });
});
