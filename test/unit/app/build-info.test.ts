import { expect, it } from 'vitest';
import { readBuildInfo } from '../../../src/app/build-info.ts';

it('the revision is the one that the build recorded, and unknown in a clone or where it is empty', () => {
  expect(readBuildInfo({ ZLB_EXPORTER_REVISION: 'abc' }).revision).toBe('abc');
  expect(readBuildInfo({}).revision).toBe('unknown');
  expect(readBuildInfo({ ZLB_EXPORTER_REVISION: '' }).revision).toBe('unknown');
});
