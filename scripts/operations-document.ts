import { parse } from 'yaml';
import { betweenMarkers } from './between-markers.ts';

interface AlertRule {
  readonly alert?: string;
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
  const bySeverity = Map.groupBy(
    groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined),
    ({ labels }) => labels?.severity,
  );
  const rows = [...bySeverity].map(
    ([severity, rules]) =>
      `| ${severity} | ${rules.map(({ alert = '' }) => `[${alert}](#${alert.toLowerCase()})`).join(', ')} |`,
  );
  return ['| Severity | Alerts |', '|---|---|', ...rows].join('\n');
}
