/**
 * Creates a clock in milliseconds that never understates an age. The monotonic clock stops while a
 * virtual machine is paused, and the wall clock can be set back; between two calls, the clock that
 * moved further counts.
 */
export function createAgeClock(wallNow: () => number, steadyNow: () => number): () => number {
  let wall = wallNow();
  let steady = steadyNow();
  let age = 0;
  return () => {
    const wallBefore = wall;
    const steadyBefore = steady;
    wall = wallNow();
    steady = steadyNow();
    age += Math.max(0, wall - wallBefore, steady - steadyBefore);
    return age;
  };
}
