import type { Findings, Found } from '../collectors/findings.ts';
import type { ObjectState } from '../collectors/collector.ts';
import { kept, keptRows } from '../lib/same.ts';
import type { Family } from '../metrics/family.ts';
import type { BackendStatus, Dated, FarmStatus, InterfaceStatus } from './status.ts';

/** Findings with the times at which states began, as far as we saw it. */
export interface DatedFindings extends Omit<Findings, 'farms' | 'backends' | 'interfaces'> {
  readonly farms?: readonly Omit<FarmStatus, 'backends'>[];
  readonly backends?: readonly BackendStatus[];
  readonly interfaces?: readonly InterfaceStatus[];
}

export interface DatedFound {
  readonly family: Family;
  readonly findings: DatedFindings;
}

export type SinceMs = (object: Omit<ObjectState, 'state'>) => number | undefined;

/** `farm` is the one that the reading is about; `sinceMs` is undefined where nothing has changed yet. */
export function dated(
  found: readonly Found[],
  farm: string | undefined,
  sinceMs: SinceMs | undefined,
): readonly DatedFound[] {
  if (!sinceMs) return found;
  return found.map(({ family, findings: { farms, backends, interfaces, ...findings } }) => ({
    family,
    findings: {
      ...findings,
      ...(farms && {
        farms: farms.map((each) => since(each, sinceMs({ object: 'farm', labels: { farm: each.name } }))),
      }),
      ...(interfaces && {
        interfaces: interfaces.map((each) =>
          since(each, sinceMs({ object: 'interface', labels: { interface: each.name } })),
        ),
      }),
      ...(backends &&
        farm !== undefined && {
          backends: backends.map((each) => {
            const { service, backend } = each;
            return since(each, sinceMs({ object: 'backend', labels: { farm, service, backend } }));
          }),
        }),
    },
  }));
}

function since<Thing extends object>(thing: Thing, sinceMs: number | undefined): Thing & Dated {
  return sinceMs === undefined ? thing : { ...thing, sinceMs };
}

/** Findings in which all that says what it said `before` is the very same object. */
export function keptFound(before: readonly DatedFound[], found: readonly DatedFound[]): readonly DatedFound[] {
  return found.map((each) => {
    const known = before.find(({ family }) => family === each.family)?.findings;
    return known ? { family: each.family, findings: keptFindings(known, each.findings) } : each;
  });
}

/** Lists of which a row or two differ from poll to poll keep their other rows. */
function keptFindings(before: DatedFindings, findings: DatedFindings): DatedFindings {
  const { farms, backends } = findings;
  return kept(before, {
    ...findings,
    ...(farms && { farms: keptRows(before.farms, farms) }),
    ...(backends && { backends: keptRows(before.backends, backends) }),
  });
}
