import { oneLine } from '../../lib/text.ts';
import type { DryRun } from '../../admin/calls/dry-run.ts';
import { objectionLines } from '../../admin/changes/change.ts';
import { renderJson } from './render.ts';
import { jsonText } from '../table.ts';

/**
 * Returns true if the gateway would refuse the call, or the appliance according to its own
 * description of the parameters.
 */
export function wouldFail({ would, validation }: Pick<DryRun, 'would' | 'validation'>): boolean {
  return would === 'be refused' || validation.problems.length > 0;
}

/**
 * Renders a dry run for people: the request, the objections, and the present state of the object.
 */
export function dryRunLines({ operation, risk, request, current, ...outcome }: DryRun): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): ${outcomeText(outcome)}.`, 300),
    ...objectionLines(outcome, outcome.validation),
    '',
    'Request',
    ...callLines(request),
    ...(current ? ['', ...presentLines(current)] : []),
  ];
}

export function refusalLines(dryRun: DryRun): readonly string[] {
  return [
    oneLine(`zlb-exporter: ${dryRun.operation} was not sent: ${outcomeText(dryRun)}.`, 300),
    ...objectionLines(dryRun, dryRun.validation),
    '--force --reason=TEXT overrides guards and what the appliance says of its parameters, and nothing else.',
  ];
}

const maxBodyLength = 4_000;

/** Returns a call as it would be sent; says how much of a long body it does not show. */
export function callLines({ method, url, body }: Omit<DryRun['request'], 'headers'>): readonly string[] {
  const shown = body ?? '';
  const text = typeof shown === 'string' ? shown : jsonText(shown);
  const more = text.length - maxBodyLength;
  return [
    oneLine(`${method} ${url}`, 2_000),
    ...(text === '' ? [] : [oneLine(text, maxBodyLength)]),
    ...(more > 0 ? [`… and ${more} more characters; --json shows all`] : []),
  ].map((line) => `  ${line}`);
}

/**
 * Returns the warnings of guards that do not block this call, also of guards that block calls with
 * other tokens.
 */
export function warningLines({ findings, warned = [] }: Pick<DryRun, 'findings' | 'warned'>): readonly string[] {
  return objectionLines({
    because: [],
    findings: findings.filter(({ severity, guard }) => severity !== 'blocking' || warned.includes(guard)),
  });
}

function outcomeText({ would, validation }: Pick<DryRun, 'would' | 'validation'>): string {
  if (would !== 'be refused' && validation.problems.length > 0)
    return 'the gateway would send it, and the appliance would refuse it';
  return `it would ${would}`;
}

const maxLines = 40;

export function presentLines({ operation, body }: NonNullable<DryRun['current']>): readonly string[] {
  const source = oneLine(operation, 64);
  const lines = renderJson(body);
  return [
    `Now (${source})`,
    ...lines.slice(0, maxLines).map((line) => `  ${line}`.trimEnd()),
    ...(lines.length > maxLines ? [`  … and ${lines.length - maxLines} more lines; ${source} shows all`] : []),
  ];
}
