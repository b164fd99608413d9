import { roleMay } from '../src/gateway/policy.ts';
import { roles } from '../src/gateway/principal.ts';
import type { Risk } from '../src/appliance/api/row.ts';
import { endpoints } from '../src/appliance/api/table.ts';

const risks: readonly Risk[] = ['read', 'secret', 'reversible', 'disruptive', 'destructive'];

/**
 * Returns the permissions as a Markdown table: a row for each role, a column for each risk with the
 * number of its operations.
 */
export function roleRiskMatrix(): string {
  const all = Object.values<{ readonly risk: Risk }>(endpoints);
  const countOf = (wanted: readonly Risk[]): number => all.filter(({ risk }) => wanted.includes(risk)).length;
  const rows = roles.map((role) => {
    const allowed = risks.filter((risk) => roleMay(role, risk));
    return [`\`${role}\``, ...risks.map((risk) => (allowed.includes(risk) ? 'yes' : '–')), countOf(allowed)];
  });
  return [
    ['Role', ...risks, 'operations'],
    ['---', ...risks.map(() => ':-:'), '--:'],
    ...rows,
    ['operations', ...risks.map((risk) => countOf([risk])), all.length],
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
