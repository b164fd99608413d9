/** Waits for the process to be asked to stop, then closes what is given. */
export async function untilStopped(
  stopped: AbortSignal,
  ...parts: readonly { close(): Promise<void> }[]
): Promise<void> {
  if (!stopped.aborted)
    await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
  for (const part of parts) await part.close();
}
