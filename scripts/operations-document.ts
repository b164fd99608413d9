import { parse } from 'yaml';
import { betweenMarkers } from './between-markers.ts';

interface AlertRule {
  readonly alert?: string;
  readonly for?: string;
  readonly labels?: { readonly severity?: string };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

/**
 * Returns docs/operations.md with the tables of the alerts in these rule files; the rest is written
 * by hand.
 */
export function operationsDocument(document: string, files: readonly string[]): string {
  const [core = '', extended = ''] = files;
  return betweenMarkers(betweenMarkers(document, 'alerts', alertTable(core)), 'extended alerts', alertTable(extended));
}

function alertTable(text: string): string {
  const { groups } = parse(text) as RuleFile;
  const rows = groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, labels, for: wait = '–' }) =>
      alert === undefined ? [] : [`| [${alert}](#${alert.toLowerCase()}) | ${labels?.severity} | ${wait} |`],
    );
  return ['| Alert | Severity | For |', '|---|---|---|', ...rows].join('\n');
}
