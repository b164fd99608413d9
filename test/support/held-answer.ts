import { onTestFinished } from 'vitest';

/** Returns a fault whose answer comes when the test says so, at the latest at its end. */
export function givenHeldAnswer() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  return { fault: { kind: 'held', until: promise } as const, release };
}
