import { oneLine } from '../../lib/text.ts';
import type { DryRun } from '../calls/dry-run.ts';
import type { ChangePlan } from './change.ts';

/** Returns a plan as people read it: the facts, the steps, and the objections to each. */
export function planLines({ facts, steps }: ChangePlan): readonly string[] {
  return [
    ...facts.map((fact) => oneLine(fact, 1_000)),
    '',
    'Plan',
    ...steps.flatMap(({ title, would, ...objections }, index) => [
      `  ${index + 1}. ${oneLine(title, 500)}`,
      ...(would === 'wait for approval' ? ['       it needs approval'] : []),
      ...objectionLines(objections).map((line) => `   ${line}`),
    ]),
  ];
}

/**
 * Returns the objections of the gateway and its guards to a call, each once; with `validation` also
 * those of the appliance.
 */
export function objectionLines(
  { because, findings }: Pick<DryRun, 'because' | 'findings'>,
  validation: Omit<DryRun['validation'], 'checked'> = { problems: [] },
): readonly string[] {
  const found = findings.map(
    ({ guard, severity, message, remedy }) => `${severity === 'blocking' ? '✗' : '!'} ${guard}: ${message} ${remedy}`,
  );
  const known = new Set(findings.map(({ message }) => message));
  const others = [...because, ...validation.problems]
    .filter((sentence) => !known.has(sentence))
    .map((sentence) => `✗ ${sentence}`);
  const note = validation.note === undefined ? [] : [validation.note];
  return [...found, ...others, ...note].map((text) => `  ${oneLine(text, 2_000)}`);
}
