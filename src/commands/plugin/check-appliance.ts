import { findingOf, overdue, problemsAbout, type SeenAppliance } from './exporter-reply.ts';
import { type CheckedObject, NothingKnown, type CheckResult } from './check-result.ts';

/** Alerts of an appliance from which nothing is read; other warnings are about single readings. */
const ofTheWhole = ['ZlbApplianceDeactivated', 'ZlbApplianceUnreachable'];

/** Whether an appliance answers, and is read completely. */
export function checkAppliance(seen: SeenAppliance): CheckResult {
  const { appliance, nowMs } = seen;
  const { name, up, collectors } = appliance;
  if (up == null) throw new NothingKnown(`${name} has not answered since the exporter was started`);
  const supported = collectors.filter(({ isSupported }) => isSupported);
  if (supported.length === 0) throw new NothingKnown(`nothing is read from ${name}`);
  const late = supported.flatMap((each): readonly CheckedObject[] => {
    const text = overdue(each, nowMs);
    // Just after a start of the exporter, nothing has failed.
    const isWaiting = each.lastSuccessMs == null && each.failure == null;
    return text === undefined ? [] : [{ state: isWaiting ? 'UNKNOWN' : 'WARNING', text }];
  });
  const findings = [...problemsAbout(seen, 'appliance'), ...problemsAbout(seen, 'activation')]
    .filter(({ level, alert }) => level === 'critical' || ofTheWhole.includes(alert))
    .map(findingOf);
  return {
    findings: [...findings, ...late],
    otherwise: `${name} answers, and all of its ${supported.length} readings are fresh`,
    measures: [
      { label: 'readings', value: supported.length, min: 0 },
      { label: 'overdue', value: late.length, warning: '0', min: 0, max: supported.length },
    ],
  };
}
