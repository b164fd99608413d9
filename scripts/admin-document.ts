import { allGuards } from '../src/gateway/guards/inspect.ts';
import { roleRiskMatrix } from './admin-matrix.ts';
import { betweenMarkers } from './between-markers.ts';

/** docs/admin.md with its tables as the code has them; the text around them is written by hand. */
export function adminDocument(document: string): string {
  return betweenMarkers(betweenMarkers(document, 'matrix', roleRiskMatrix()), 'guards', guardTable());
}

function guardTable(): string {
  const rows = allGuards.map(({ name, effect, operations, about }) => {
    const keys = operations.map((key) => `\`${key}\``).join(', ');
    return `| \`${name}\` | ${effect} | ${about} | ${keys} |`;
  });
  return ['| Guard | Effect | What could happen | Operations |', '|---|---|---|---|', ...rows].join('\n');
}
