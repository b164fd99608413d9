import { JournalRequestHandler } from '../../src/admin/journal/request-handler.ts';
import type { DaemonParts } from '../../src/app/daemon.ts';
import { HistoryService } from '../../src/history/history-service.ts';
import type { Thread } from '../../src/lib/worker-client.ts';

/**
 * The history and the journal in the thread of the test: two threads take longer to start than the
 * rest of an exporter.
 */
export const noThreads: Pick<DaemonParts, 'createHistoryThread' | 'createJournalThread'> = {
  createHistoryThread: (file) => answeredHere(new HistoryService(file)),
  createJournalThread: (file) => answeredHere(new JournalRequestHandler(file)),
};

/** Answers one question after another, as a thread does, and shares no object with who asks. */
function answeredHere<Question, Answer>(keeper: {
  answer(question: Question): Promise<Answer>;
}): Thread<Question, Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    isRunning: true,
    ask(question) {
      const copy = structuredClone(question);
      const answer = last.then(async () => structuredClone(await keeper.answer(copy)));
      last = answer;
      return answer;
    },
    terminate: () => Promise.resolve(),
  };
}
