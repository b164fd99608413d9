import { describe, expect, it } from 'vitest';
import { startStack } from '../support/given-stack.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const programs = [isThere('prometheus'), isThere('prometheus-alertmanager')];

describe.skipIf(programs.includes(false))('npm run stack', () => {
  it('sends one notification about a deactivated appliance, which holds back all others about it', async () => {
    const stack = await startStack();
    await stack.started();
    const alertmanager = `http://${stack.addresses['alertmanager']}/api/v2`;
    const heldBack = async () => {
      const answer = await fetch(`${alertmanager}/alerts?filter=appliance="lb-lisbon"`);
      const alerts = (await answer.json()) as { labels: { alertname: string }; status: { state: string } }[];
      return alerts.filter(
        ({ labels, status }) => labels.alertname === 'ZlbCollectorStale' && status.state === 'suppressed',
      );
    };

    await until(heldBack, (alerts) => alerts.length > 5, 150_000);
    await until(stack.stdout, (seen) => /FIRING .*lb-lisbon/.test(seen), 60_000);

    const told = stack
      .stdout()
      .split('\n')
      .filter((line) => line.includes('FIRING') && line.includes('lb-lisbon'));
    expect(told).toEqual([expect.stringContaining('ZlbApplianceDeactivated lb-lisbon')]);
  }, 240_000);
});
