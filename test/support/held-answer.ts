import { onTestFinished } from 'vitest';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import { until } from './until.ts';

/** Holds the next answer to a route until the test releases it, at the latest at its end. */
export function givenHeldAnswer({ fail, requests }: Pick<SimulatedAppliance, 'fail' | 'requests'>, route: string) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  fail(route, { kind: 'held', until: promise }, { times: 1 });
  const asked = () => requests.filter(({ fault }) => fault === 'held');
  /** Resolves once the appliance has the request. */
  const reached = () => until(asked, ({ length }) => length > 0);
  return { reached, release };
}
