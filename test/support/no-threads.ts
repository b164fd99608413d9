import { JournalRequestHandler } from '../../src/admin/journal/request-handler.ts';
import type { DaemonParts } from '../../src/app/daemon.ts';
import { HistoryRequestHandler } from '../../src/history/request-handler.ts';
import type { Thread } from '../../src/lib/worker-client.ts';

/**
 * The history and the journal in the thread of the test: two threads take longer to start than the
 * rest of an exporter.
 */
export const noThreads: Pick<DaemonParts, 'createHistoryThread' | 'createJournalThread'> = {
  createHistoryThread: (file) => handledHere(new HistoryRequestHandler(file)),
  createJournalThread: (file) => handledHere(new JournalRequestHandler(file)),
};

/** Handles one request after another, as a thread does, and shares no object with the caller. */
function handledHere<Request, Response>(handler: {
  handle(request: Request): Promise<Response>;
}): Thread<Request, Response> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    isRunning: true,
    request(content) {
      const copy = structuredClone(content);
      const response = last.then(async () => structuredClone(await handler.handle(copy)));
      last = response;
      return response;
    },
    terminate: () => Promise.resolve(),
  };
}
