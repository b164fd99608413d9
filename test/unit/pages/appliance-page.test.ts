import { expect, it } from 'vitest';
import { markupText } from '../../../src/pages/html.ts';
import { farmPage } from '../../../src/pages/status/appliance-page.ts';
import { createHealthSummary } from '../../../src/state/health.ts';
import type { FarmStatus } from '../../../src/state/status.ts';
import { applianceStatus, farmStatus, fleetStatus, nowMs } from '../../support/fleet-status.ts';

it.each<[given: Partial<FarmStatus>, command: string | undefined]>([
  [{ state: 'down' }, 'actOnFarm farmname=shop action=start --reason=ZlbFarmDown'],
  [{ state: 'critical', isSilent: true }, 'restart-farm farm=shop --reason=ZlbFarmDown'],
  [{ state: 'needed_restart' }, 'restart-farm farm=shop --reason=ZlbFarmNeedsRestart'],
  [{ state: 'critical' }, undefined],
  [{ state: 'up', answersClients: true }, undefined],
])('the command for a farm that is %j follows the problem, whatever its words are: %s', async (given, command) => {
  const status = applianceStatus({ name: 'lb', farms: [farmStatus({ name: 'shop', ...given })] });
  const summarize = createHealthSummary({
    fleetStatus: () => fleetStatus(status),
    lastMinuteOf: () => undefined,
    now: () => nowMs,
  });
  const summary = await summarize();

  const commands = summary.perAppliance.flatMap((health) =>
    ['Farm shop is down', 'The proxy of farm shop', 'other words'].map((title) => {
      const problems = health.problems.map((problem) => ({ ...problem, title }));
      const page = farmPage({ ...health, problems }, 'shop', summary, (text) => text);
      return /zlb-exporter admin lb ([^<]*)/.exec(markupText(page))?.[1];
    }),
  );

  expect(commands).toEqual([command, command, command]);
});
