import { setTimeout as delay } from 'node:timers/promises';

const patienceMs = 30_000;

/** Resolves once a page has what is looked for; throws with what it had last. */
export async function pageWith(url: string, what: RegExp): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await fetch(url, { headers: { accept: 'text/html, text/plain' } });
    const page = await answer.text();
    if (answer.ok && what.test(page)) return;
    if (performance.now() > deadline)
      throw new Error(
        `${url} should have ${what.source} within ${patienceMs / 1_000} s; it answered ${answer.status}: ${page.slice(0, 500)}`,
      );
    await delay(100);
  }
}
