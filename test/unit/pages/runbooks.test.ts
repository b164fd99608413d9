import { expect, it } from 'vitest';
import { renderRunbooks } from '../../../src/pages/runbooks/render-runbooks.ts';
import { runbooksFor } from '../../../src/pages/runbooks/runbooks.ts';
import { markupText } from '../../../src/pages/html.ts';

it('the commands of the runbooks name the configuration of this exporter', () => {
  const source = renderRunbooks('# Operations\n\n### ZlbUp\n\n```sh\nzlb-exporter check --config.file=zlb.yml\n```\n');
  const addresses = { exporter: undefined, gateway: undefined, appliance: undefined };
  const textFor = (configuration: string | undefined) =>
    markupText(runbooksFor(source, {}, { ...addresses, configuration })).replaceAll(/<[^>]*>/g, '');

  expect(textFor('/etc/zlb-exporter/zlb.yml')).toContain('check --config.file=/etc/zlb-exporter/zlb.yml\n');
  expect(textFor(undefined)).toContain('check --config.file=zlb.yml\n');
});

it('a command within a sentence has the names of the alert, as those in blocks', () => {
  const source = renderRunbooks('# Operations\n\n### ZlbUp\n\n- Stop it (`actOnFarm farmname=$farm`), see `$new`.\n');
  const addresses = { exporter: undefined, gateway: undefined, appliance: undefined, configuration: undefined };
  const textFor = (labels: { farm?: string }) =>
    markupText(runbooksFor(source, labels, addresses)).replaceAll(/<[^>]*>/g, '');

  expect(textFor({ farm: 'shop' })).toContain('Stop it (actOnFarm farmname=shop), see $new.');
  expect(textFor({})).toContain('Stop it (actOnFarm farmname=$farm), see $new.');
});
