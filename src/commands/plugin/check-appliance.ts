import { joinFirst } from '../../lib/text.ts';
import { findingOf, overdueText, problemsAbout, type SeenAppliance } from './exporter-reply.ts';
import { type CheckedObject, UnknownStateError, type CheckResult } from './check-result.ts';

/** Alerts of an appliance from which nothing is read; other warnings are about single readings. */
const ofTheWhole = ['ZlbApplianceDeactivated', 'ZlbApplianceUnreachable'];

export function judgeAppliance(seen: SeenAppliance): CheckResult {
  const { appliance, nowMs } = seen;
  const { name, up, collectors } = appliance;
  if (up == null) throw new UnknownStateError(`${name} has not answered since the exporter was started`);
  const supported = collectors.filter(({ isSupported }) => isSupported);
  // Just after a start of the exporter, what was never asked is not overdue.
  const [asked, waiting] = [true, false].map((isAsked) =>
    supported.filter((each) => (each.lastSuccessMs != null || each.failure != null) === isAsked),
  ) as [typeof supported, typeof supported];
  if (asked.length === 0)
    throw new UnknownStateError(`nothing is read from ${name}${waiting.length > 0 ? ' yet' : ''}`);
  const late = asked.flatMap((each): readonly CheckedObject[] => {
    const text = overdueText(each, nowMs);
    return text === undefined ? [] : [{ state: 'WARNING', text }];
  });
  const first = waiting.length > 0 ? `; ${joinFirst(waiting.map((each) => each.name))} read for the first time` : '';
  const findings = [...problemsAbout(seen, 'appliance'), ...problemsAbout(seen, 'activation')]
    .filter(({ level, alert }) => level === 'critical' || ofTheWhole.includes(alert))
    .map(findingOf);
  return {
    findings: [...findings, ...late],
    okText: `${name} answers, and all of its ${asked.length} readings are fresh${first}`,
    performanceData: [
      { label: 'readings', value: supported.length, min: 0 },
      { label: 'overdue', value: late.length, warning: '0', min: 0, max: supported.length },
    ],
  };
}
