import { parse } from 'yaml';
import type { Risk } from '../../src/appliance/api/row.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import { allGuards } from '../../src/admin/policy/guards/inspect.ts';
import { roleMay } from '../../src/admin/policy/policy.ts';
import { roles } from '../../src/admin/policy/principal.ts';
import { markdownTable } from './markdown.ts';
import { readRuleFiles } from '../rule-files.ts';

/** Returns the tables of docs/admin.md. */
export function adminTables(): Readonly<Record<string, string>> {
  return { roles: rolesTable(), guards: guardTable() };
}

function guardTable(): string {
  const rows = allGuards.map(({ name, effect, about }) => [`\`${name}\``, effect, about]);
  return markdownTable(['Guard', 'Effect', 'What could happen'], rows);
}

const risks: readonly Risk[] = ['read', 'secret', 'reversible', 'disruptive', 'destructive'];

/** Returns the risks that each role may take, with the number of its operations. */
function rolesTable(): string {
  const all = Object.values<{ readonly risk: Risk }>(endpoints);
  const rows = roles.map((role) => {
    const allowed = risks.filter((risk) => roleMay(role, risk));
    const count = all.filter(({ risk }) => allowed.includes(risk)).length;
    return [`\`${role}\``, allowed.join(', ') || '–', `${count}`];
  });
  return markdownTable(['Role', 'Risks', 'Operations'], rows);
}

interface AlertRule {
  readonly alert?: string;
  readonly labels?: { readonly severity?: string };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

/** Returns the lists of alerts of docs/operations.md, one for each rule file, by severity. */
export function alertLists(): Readonly<Record<string, string>> {
  const markers = ['alerts', 'extended-alerts', 'requests-alerts'];
  return Object.fromEntries(readRuleFiles().map((text, index) => [markers[index], alertList(text)]));
}

function alertList(text: string): string {
  const { groups } = parse(text) as RuleFile;
  const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  return [...Map.groupBy(alerts, ({ labels }) => labels?.severity ?? '')]
    .map(([severity, own]) => {
      const links = own.map(({ alert = '' }) => `\n  [${alert}](#${alert.toLowerCase()})`);
      // Some alerts have several rules.
      return `- *${severity}*:${[...new Set(links)].join(',')}`;
    })
    .join('\n');
}
