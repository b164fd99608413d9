import { describe, expect, it } from 'vitest';
import { alertSeverities, levelOfState } from '../../../src/state/level.ts';
import { shippedRules } from '../../support/shipped-rules.ts';

describe('the severity of a problem', () => {
  it.each(Object.entries(alertSeverities))('is that of the alert %s: %s', (name, severity) => {
    const ofRules = shippedRules.filter(({ alert }) => alert === name).map(({ labels }) => labels?.['severity']);

    expect(new Set(ofRules)).toEqual(new Set([severity]));
  });

  it.each([
    ['farm', 'down', 'critical'],
    ['farm', 'problem', 'warning'],
    ['backend', 'down', 'warning'],
    ['interface', 'down', 'warning'],
    ['activation', 'deactivated', 'warning'],
    ['certificate', 'invalid', 'warning'],
    ['backend', 'critical', 'unknown'],
    ['farm', 'constructor', 'unknown'],
  ] as const)('is that of the state: a %s that is %s is %s', (object, state, severity) => {
    expect(levelOfState(object, state)).toBe(severity);
  });
});
