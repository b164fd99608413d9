import { describe, expect, it } from 'vitest';
import { checkAddresses, reachable } from '../../../scripts/stack/addresses.ts';

// Port 1 is nobody's to listen on without rights: what is refused for that has passed the
// comparison.
const apart = {
  exporter: '127.0.0.1:1',
  gateway: '[::1]:1',
  prometheus: '127.0.0.2:1',
  alertmanager: '127.0.0.3:1',
};
const complaint = (addresses: typeof apart): Promise<string> =>
  checkAddresses(addresses).then(
    () => '',
    (error: Error) => error.message,
  );

describe('the addresses of the stack', () => {
  it.each([['127.0.0.1:1'], ['localhost:1'], ['LOCALHOST:01'], [':1'], ['0.0.0.0:1'], ['[::]:1']])(
    'cannot be 127.0.0.1:1 and %s',
    async (address) => {
      expect(await complaint({ ...apart, alertmanager: address })).toContain(
        `--exporter.listen-address=127.0.0.1:1 and --alertmanager.listen-address=${address} would be one port for two`,
      );
    },
  );

  it('may share a port on different hosts', async () => {
    expect(await complaint(apart)).not.toContain('one port for two');
  });
});

describe('where something that listens is reached', () => {
  it.each([
    [':9444', '127.0.0.1:9444'],
    ['0.0.0.0:9444', '127.0.0.1:9444'],
    ['[::]:9444', '127.0.0.1:9444'],
    ['192.0.2.1:9444', '192.0.2.1:9444'],
    ['[::1]:9444', '[::1]:9444'],
  ])('is on this machine, when %s is every address: %s', (address, place) => {
    expect(reachable(address)).toBe(place);
  });
});
