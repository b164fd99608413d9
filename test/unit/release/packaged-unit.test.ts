import { expect, it } from 'vitest';
import { packagedUnit } from '../../../scripts/release/tree.ts';

it('the unit of a package has the places and the user of the package, and the limits of the other unit', () => {
  const unit = packagedUnit('abc123');

  expect(unit).toMatch(/^\[Unit\]\n/);
  expect(unit).toContain('\nUser=zlb-exporter\nGroup=zlb-exporter\nStateDirectory=zlb-exporter\n');
  expect(unit).toContain('\nExecStart=/usr/lib/zlb-exporter/bin/node --permission ');
  expect(unit).toContain('ZLB_EXPORTER_REVISION=abc123');
  expect(unit).not.toMatch(/\/opt\/|DynamicUser|LoadCredential|keys\.conf/);
  expect(unit).toContain('\nMemoryMax=1G\n');
});
