/**
 * Milliseconds for the age of things, never too few. The steady clock stands still while a virtual machine is paused, and
 * the wall clock can be set back; of two looks at both, whichever moved further counts.
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
