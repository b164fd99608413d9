import { endpoints } from '../../appliance/endpoints/table.ts';
import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { UsageError } from '../command.ts';
import { quotable } from './assignments.ts';
import { show } from './built-in-commands.ts';
import { recordsOf } from './render.ts';
import { applianceBase } from './request.ts';
import type { AdminSession } from './session.ts';
import { tableLines, valueText } from './table.ts';
import { parseTarget } from './target.ts';

/** Shows the parameters of an operation as the appliance describes them. */
export async function parameters(words: readonly string[], session: AdminSession): Promise<void> {
  const [appliance, ...rest] = words;
  if (appliance === undefined)
    throw new UsageError('the appliance and the operation are missing: admin parameters APPLIANCE OPERATION');
  if (rest.length === 0) {
    const named = quotable(appliance);
    throw new UsageError(
      Object.hasOwn(endpoints, appliance)
        ? `the appliance is missing: admin parameters APPLIANCE ${named}`
        : `the operation is missing: admin parameters ${named} OPERATION; zlb-exporter admin operations WORDS finds it`,
    );
  }
  const { call, fields } = parseTarget(rest, session.operations);
  const { key, row } = call.operation;
  if (row.body !== 'json')
    throw new UsageError(
      row.body === 'none' ? `${key} takes no parameters` : `${key} takes a file and no parameters: --body=@PATH`,
    );
  if (fields.length > 0)
    throw new UsageError(`only names in the path count here: ${key} is ${row.route}; leave the others out`);
  const query = new URLSearchParams({ operation: key, ...call.params });
  await show(session, { method: 'GET', path: `${applianceBase(appliance)}/parameters?${query.toString()}` }, lines);
}

function lines(answer: unknown): readonly string[] {
  const rows = recordsOf(answer, 'parameters').toSorted((a, b) => (valueText(a.name) < valueText(b.name) ? -1 : 1));
  const { route, description } = isRecord(answer) ? answer : {};
  return [
    oneLine([route, description].map(valueText).join('  '), 500),
    '',
    ...(rows.length === 0
      ? ['The appliance describes no parameters.']
      : tableLines(['name', 'needed', 'takes', 'about'], rows.map(cells))),
  ];
}

function cells(row: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { name, required, non_blank: nonBlank, possible_values: values, interval, format, description, list } = row;
  const takes = [
    Array.isArray(values) ? values.map(valueText).join(' | ') : (interval ?? format ?? 'text'),
    ...(list === true ? ['(list)'] : []),
    ...(nonBlank === true ? [] : ['(or empty)']),
  ];
  return [name, required === true ? 'yes' : '', takes.map(valueText).join(' '), description ?? ''];
}
