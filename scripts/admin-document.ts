import { allGuards } from '../src/admin/guards/all-guards.ts';
import { roleRiskMatrix } from './admin-matrix.ts';

/** docs/admin.md with its tables as the code has them; the text around them is written by hand. */
export function adminDocument(document: string): string {
  return between(between(document, 'matrix', roleRiskMatrix()), 'guards', guardTable());
}

function guardTable(): string {
  const rows = allGuards.map(({ name, effect, operations, about }) => {
    const keys = operations.map((key) => `\`${key}\``).join(', ');
    return `| \`${name}\` | ${effect} | ${about} | ${keys} |`;
  });
  return ['| Guard | Effect | What it knows | Operations |', '|---|---|---|---|', ...rows].join('\n');
}

/** Puts a text between the markers of its name. */
function between(document: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from === -1 || to < from) throw new Error(`the document has no ${start} with a ${end} after it`);
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`;
}
