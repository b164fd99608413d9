/** Waits for the request to stop, then closes the given parts. */
export async function untilStopped(
  stopped: AbortSignal,
  ...parts: readonly { close(): Promise<void> }[]
): Promise<void> {
  if (!stopped.aborted)
    await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
  for (const part of parts) await part.close();
}
