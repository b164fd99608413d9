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
