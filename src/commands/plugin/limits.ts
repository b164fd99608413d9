import { type Flags, optionalFlag, UsageError } from '../command.ts';

/** The numbers of `-w` and `-c`. */
export interface Limits {
  readonly warning: number | undefined;
  readonly critical: number | undefined;
}

/** Which values are good: those of at least the limit, or of at most the limit. */
export type GoodValues = 'at least' | 'at most';

/** Reads `-w` and `-c`. `28:` is the same as 28 where values of at least 28 are good. */
export function limitsOf(flags: Flags, good: GoodValues): Limits {
  const warning = limitOf(flags, 'warning', good);
  const critical = limitOf(flags, 'critical', good);
  const isWrong =
    warning !== undefined && critical !== undefined && (good === 'at least' ? critical > warning : critical < warning);
  if (isWrong)
    throw new UsageError(
      `-c has to be ${good === 'at least' ? 'below' : 'above'} -w here: critical comes after the warning`,
    );
  return { warning, critical };
}

function limitOf(flags: Flags, name: 'warning' | 'critical', good: GoodValues): number | undefined {
  const text = optionalFlag(flags, name);
  if (text === undefined) return undefined;
  const [, digits] = (good === 'at least' ? /^(\d{1,9}(?:\.\d{1,9})?):?$/ : /^(\d{1,9})$/).exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`-${name[0]} (--${name}) must be a number here, ${good} which a value is good`);
  return Number(digits);
}

/** Returns the state of a value by the limits. */
export function stateBy({ warning, critical }: Limits, value: number, good: GoodValues): 'OK' | 'WARNING' | 'CRITICAL' {
  const violates = (limit: number | undefined): boolean =>
    limit !== undefined && (good === 'at least' ? value < limit : value > limit);
  if (violates(critical)) return 'CRITICAL';
  return violates(warning) ? 'WARNING' : 'OK';
}

/** Returns the limits as ranges of a measure. */
export function rangesOf({ warning, critical }: Limits, good: GoodValues) {
  const range = (limit: number | undefined): string | undefined =>
    limit === undefined ? undefined : `${limit}${good === 'at least' ? ':' : ''}`;
  return { warning: range(warning), critical: range(critical) };
}
